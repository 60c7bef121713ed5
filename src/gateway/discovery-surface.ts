/**
 * Offers the five meta-tools, and the servers that a caller's profile exposes beside them or instead of them.
 * @module
 */
import type { Caller } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import type { Exposure } from '../engine/profile-parts.ts';
import { createMetaToolRunner } from '../meta-tools/meta-tool-runner.ts';
import { isMetaTool } from '../meta-tools/meta-tools.ts';
import type { RunTool } from '../meta-tools/run-tool.ts';
import type { Beside, Exposed } from './exposed-servers.ts';
import { introductionOf } from './introduction.ts';
import type { Surface } from './serve-stdio.ts';

type Who = Pick<Caller, 'principal' | 'profile'>;

/** Offers each client what its profile shows. `profile` is for clients for which none was selected. */
export function discoverySurface(engine: EngineHandle, profile?: string): Surface {
  const core = coreOf(engine);
  const run = createMetaToolRunner(core);
  let loaded: Promise<Surface> | undefined;
  // Loaded on demand, because most gateways expose nothing and start sooner without it.
  const exposed = () => {
    loaded ??= import('./exposed-servers.ts').then(({ surfaceOf }) =>
      surfaceOf(core, exposedByProfile(core), besideExposed(core, run)),
    );
    return loaded;
  };
  const as = <T extends Who>(who: T): T =>
    profile === undefined || who.profile !== undefined ? who : { ...who, profile };
  return {
    run: (name, args, context) => {
      const own = { ...context, caller: as(context.caller) };
      if (!isSomebody(own.caller)) return run(name, args, own);
      return exposureOf(core, own.caller).then(async (exposure) =>
        exposure ? (await exposed()).run(name, args, own) : run(name, args, own),
      );
    },
    // Prompts and resources are answered by the SDK.
    introduction: core.exposure(as({})) ? undefined : introductionOf(core, as({})),
    createServer: async (handler, identity) => {
      const own = as(identity);
      if (await exposureOf(core, own)) return (await exposed()).createServer(handler, own);
      return (await import('./create-server.ts')).createGatewayServer(introductionOf(core, whoIs(own)), handler, own);
    },
    listen: (params, caller) => {
      const stop = exposed().then((surface) => surface.listen?.(params, as(caller)));
      return () => void stop.then((end) => end?.());
    },
    mayHear: async (params, caller) => (await exposed()).mayHear?.(params, as(caller)) ?? params,
    relayChanges: (notify, caller) => {
      const stop = exposed().then((surface) => surface.relayChanges?.(notify, as(caller)));
      return () => void stop.then((end) => end?.());
    },
  };
}

/** What a caller's profile exposes, once the configuration is known. */
async function exposureOf(core: EngineCore, who: Who): Promise<Exposure | undefined> {
  if (!isSomebody(who)) return undefined;
  // With a broken configuration, the five tools say what is wrong.
  await core.loaded().catch(() => undefined);
  return core.exposure(whoIs(who));
}

const exposedByProfile = (core: EngineCore): Exposed => ({
  names: async (caller) => {
    const exposure = core.exposure(caller);
    return exposure ? (await core.serverNames({ caller })).filter((name) => exposure.hasServer(name)) : [];
  },
  includes: (server, caller) => core.exposure(caller)?.hasServer(server) === true,
});

/** The five tools, unless the profile hides them, and the tools it pins. */
const besideExposed = (core: EngineCore, run: RunTool): Beside => {
  const hasFive = (caller: Caller) => core.exposure(caller)?.metaTools !== false;
  return {
    run,
    includes: async (name, caller) =>
      isMetaTool(name) ? hasFive(caller) : (await core.pinned({ caller }).catch(() => undefined))?.has(name) === true,
    listTools: async (caller) => {
      const tools = await introductionOf(core, caller).listTools();
      return hasFive(caller) ? tools : tools.filter(({ name }) => !isMetaTool(name));
    },
    instructions: (caller) =>
      hasFive(caller)
        ? `${introductionOf(core, caller).instructions} Tools with other names are called directly.`
        : undefined,
  };
};

/** Tells whether a user or a profile is known. Otherwise nothing is exposed. */
const isSomebody = ({ principal, profile }: Who): boolean => principal !== undefined || profile !== undefined;

const whoIs = ({ principal, profile }: Who): Who => ({ principal, profile });
