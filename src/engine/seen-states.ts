/**
 * Loads the states that the current request sees.
 * @module
 */
import type { Caller } from '../core/types.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import type { EngineState } from './engine-state.ts';

/** The state that all requests share. */
export const sharedState = async (runtime: EngineRuntime): Promise<EngineState> => (await runtime.ready()).state;

/**
 * The states that a caller sees: the shared one, or those of its profile, then those of the current request. Reads the
 * changed lists of providers again.
 */
export async function seenStates(runtime: EngineRuntime, caller?: Caller): Promise<readonly EngineState[]> {
  const states = await runtime.requests.built(await sharedState(runtime), caller);
  for (const one of states) if (one.providers.length > 0) await runtime.downstreams.providers.renewed(one);
  return states;
}

/** The state that has a server; the first for an unknown name. */
export async function stateWith(runtime: EngineRuntime, server: string, caller?: Caller): Promise<EngineState> {
  const states = await seenStates(runtime, caller);
  return states.find(({ servers }) => servers.has(server)) ?? (states[0] as EngineState);
}
