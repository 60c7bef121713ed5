/**
 * Finds the tool that an agent or a person means among several states: the shared one, then those of the request.
 * @module
 */
import { type Patience, patiently, settleRef } from '../catalog/tool-lookup.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import { fail } from '../core/result.ts';
import type { Caller, ToolRef } from '../core/types.ts';
import type { EngineState } from './engine-state.ts';

/** A tool, and the state that has its source. */
export type MeantTool = readonly [EngineState, ToolRef];

/** Resolves a server and a tool. A name that no state knows belongs to the shared state. */
export async function findMeant(
  states: readonly EngineState[],
  server: string,
  tool: string,
  options: Patience,
): Promise<MeantTool> {
  const [shared] = states as readonly [EngineState];
  const find = async (): Promise<MeantTool | undefined> => {
    for (const state of states) {
      const ref = await settleRef(state, server, tool, options);
      if (state.servers.has(ref.server) || ref.server === OWN_SERVER) return [state, ref];
    }
    return undefined;
  };
  const known = await find();
  if (known) return known;
  // A bare name may belong to an own tool whose list is not read yet. A provider that hangs delays no call for long.
  const { timeout = DEFAULTS.provider.waitMs } = options;
  const patience = { ...options, timeout: Math.min(timeout, DEFAULTS.provider.waitMs) };
  if (server === '') await patiently(Promise.all(states.map((state) => listed(state, options.caller))), patience);
  return (await find()) ?? [shared, await settleRef(shared, server, tool, options)];
}

/** Reads the missing lists of providers. */
const listed = ({ providers, catalog, discovery }: EngineState, caller: Caller | undefined): Promise<unknown> =>
  Promise.all(providers.filter(({ name }) => !catalog.isSeen(name)).map(({ name }) => discovery.listed(name, caller)));

const isName = (written: unknown): boolean => typeof written === 'string' && written.length <= LIMITS.names.qualified;

/** Tells whether a server and a tool are names at all, and short enough. */
export const isCallable = (server: unknown, tool: unknown): boolean => isName(server) && isName(tool);

/** The failure for a call that names no tool. */
export const NAMELESS = fail(
  'VALIDATION_ERROR',
  `A call needs a server and a tool, each a string of at most ${LIMITS.names.qualified} characters.`,
  { outcome: 'not_sent' },
);
