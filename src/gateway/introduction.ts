/**
 * Answers the first requests of a client of the old protocol as the SDK would, without loading it. Loading the SDK
 * takes longer than the rest of a start (`npm run bench:gateway -- --only start`), and most clients never ask for
 * anything else. Anything unusual goes to the SDK.
 * @module
 */
import { LEGACY_VERSIONS } from '../connections/handshake.ts';
import type { Caller, ToolDefinition } from '../core/types.ts';
import { IDENTITY } from '../core/version.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { isObject } from '../json/plain-object.ts';
import { metaToolDefinitions } from '../meta-tools/meta-tools.ts';

/** How a server introduces itself, and the tools it lists. */
export interface Introduction {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly instructions: string;
  listTools(): Promise<readonly ToolDefinition[]>;
}

/** A greeted client: its capabilities, the protocol revision, and the answer it gets. */
interface Greeting {
  readonly revision: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
}

type Params = Readonly<Record<string, unknown>> | undefined;

/** Introduces the gateway to a caller: with its five meta-tools, and those that are pinned. */
export const introductionOf = (engine: EngineCore, caller?: Caller): Introduction => ({
  serverInfo: IDENTITY,
  capabilities: { tools: { listChanged: true } },
  instructions:
    'These five tools give access to the tools of many servers. Find one with search_tools, then call it with execute_tool.',
  // Built for each request, because the server names change on reload. Without a configuration the tools are still
  // listed, and their answers say why.
  listTools: async () => {
    const names = await engine.serverNames({ caller }).catch(() => []);
    const pinned = await engine.pinned({ caller }).catch(() => undefined);
    const five = metaToolDefinitions(names);
    return pinned?.size ? [...five, ...[...pinned.values()].map(({ definition }) => definition)] : five;
  },
});

/** Answers a plain `initialize`; undefined for any other. */
export function greet({ serverInfo, capabilities, instructions }: Introduction, params: Params): Greeting | undefined {
  if (params === undefined || !isPlainGreeting(params)) return undefined;
  const wanted = LEGACY_VERSIONS.find((version) => version === params.protocolVersion);
  const revision = wanted ?? LEGACY_VERSIONS[0];
  return {
    revision,
    capabilities: params.capabilities as Readonly<Record<string, unknown>>,
    result: { protocolVersion: revision, capabilities, serverInfo, instructions },
  };
}

/** The answer to a later request, if it needs no SDK. */
export function earlyAnswer(
  { listTools }: Introduction,
  method: string | undefined,
  params: Params,
): (() => Promise<Record<string, unknown>>) | undefined {
  if (method === 'ping') return async () => ({});
  const isWholeList = method === 'tools/list' && Object.keys(params ?? {}).every((key) => key === '_meta');
  return isWholeList ? async () => ({ tools: await listTools() }) : undefined;
}

function isPlainGreeting({
  protocolVersion,
  capabilities,
  clientInfo,
  _meta,
}: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof protocolVersion === 'string' &&
    isObject(capabilities) &&
    Object.entries(capabilities).every(isPlainCapability) &&
    isObject(clientInfo) &&
    typeof clientInfo.name === 'string' &&
    typeof clientInfo.version === 'string' &&
    Object.entries(clientInfo).every(([key, value]) => typeof value === 'string' && key !== 'icons') &&
    // Envelopes belong to the new protocol.
    _meta === undefined
  );
}

/** The content of these capabilities is not checked. */
const OPEN_ENDED = ['experimental', 'extensions'];

const isPlainCapability = ([name, capability]: [string, unknown]): boolean =>
  isObject(capability) &&
  Object.entries(capability).every(([key, value]) => {
    if (name === 'roots' && key === 'listChanged') return typeof value === 'boolean';
    return isObject(value) && (OPEN_ENDED.includes(name) || Object.keys(value).length === 0);
  });
