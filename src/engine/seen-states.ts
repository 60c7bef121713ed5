/**
 * Loads the states that the current request sees.
 * @module
 */
import type { EngineRuntime } from './engine-runtime.ts';
import type { EngineState } from './engine-state.ts';

/** The state that all requests share. */
export const sharedState = async (runtime: EngineRuntime): Promise<EngineState> => (await runtime.ready()).state;

/** The shared state, then those of the current request. Reads the changed lists of providers again. */
export async function seenStates(runtime: EngineRuntime): Promise<readonly EngineState[]> {
  const state = await sharedState(runtime);
  const states = [state, ...runtime.requests.beside(state)];
  for (const one of states) if (one.providers.length > 0) await runtime.downstreams.providers.renewed(one);
  return states;
}

/** The state that has a server; the shared one for an unknown name. */
export async function stateWith(runtime: EngineRuntime, server: string): Promise<EngineState> {
  const states = await seenStates(runtime);
  return states.find(({ servers }) => servers.has(server)) ?? (states[0] as EngineState);
}
