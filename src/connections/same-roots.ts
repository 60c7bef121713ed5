/**
 * Hands a connection that was told somebody's roots on to a caller that nobody knows, if it has the same roots. The server
 * was told nothing else, so it is to the one what it was to the other; asking costs a moment, and starting a server many.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { type CallSignal, toAbortSignal } from '../async/cancellation.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller, IdleClock, ServerDefinition } from '../core/types.ts';
import type { Audience } from './audience.ts';
import { identityOf, type PoolSlot } from './pool-slot.ts';
import { ROOTS } from './question-habits.ts';

/** The form in which two answers are compared. */
export const rootsKey = (answer: Readonly<Record<string, unknown>>): string => JSON.stringify(answer);

/** How a call waits. */
export interface Patience {
  readonly signal?: CallSignal | undefined;
  readonly idleClock?: IdleClock | undefined;
}

/** The idle connections that a caller of this audience could use if it had the right roots. */
export function candidates(
  slots: Iterable<PoolSlot> = [],
  audience: Audience,
  definition: ServerDefinition,
  caller: Caller,
): PoolSlot[] {
  const identity = identityOf(definition);
  const fits = (slot: PoolSlot) => slot.audience.key === audience.key && slot.identity === identity;
  return [...slots].filter((slot) => slot.suitsWithRoots(caller) && fits(slot));
}

/** Asks the caller for its roots. Gives back the key, and the caller, who need not be asked for them again. */
export async function askForRoots(
  caller: Caller | undefined,
  { signal, idleClock }: Patience,
): Promise<{ readonly key: string; readonly caller: Caller } | undefined> {
  const ask = caller?.ask;
  if (!ask || !caller.capabilities?.roots) return undefined;
  idleClock?.pause();
  try {
    const asking = ask({ method: ROOTS, params: {} }, signal && toAbortSignal(signal));
    const answer = await abortable(asking, signal);
    const again: Caller['ask'] = (request, stop) =>
      request.method === ROOTS ? Promise.resolve(answer) : ask(request, stop);
    return { key: rootsKey(answer), caller: { ...caller, ask: again } };
  } catch (error) {
    if (signal?.aborted) throw error;
    // Whoever does not answer gets a connection of its own, and is asked there.
    return undefined;
  } finally {
    idleClock?.resume();
  }
}

/** The connections of one server that are too many to be kept, the longest unused first. */
export function surplus(slots: Iterable<PoolSlot>): PoolSlot[] {
  const kept = [...slots].filter(({ isKept }) => isKept).sort((a, b) => b.lastUsed - a.lastUsed);
  return kept.slice(LIMITS.wire.sameRoots);
}
