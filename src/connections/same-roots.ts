/**
 * Reuses a connection that was told one caller's roots for another caller with the same roots. The server was told
 * nothing else, so it treats both alike; asking for roots costs less than starting a server.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { type CallSignal, toAbortSignal } from '../async/cancellation.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller, IdleClock, ServerDefinition } from '../core/types.ts';
import type { Audience } from './audience.ts';
import { identityOf, type PoolSlot } from './pool-slot.ts';
import { ROOTS } from './question-habits.ts';

/** Returns the form in which two answers are compared. */
export const rootsKey = (answer: Readonly<Record<string, unknown>>): string => JSON.stringify(answer);

/** How long a call waits. */
export interface Patience {
  readonly signal?: CallSignal | undefined;
  readonly idleClock?: IdleClock | undefined;
}

/** Returns the idle connections that a caller of this audience could use if it had the right roots. */
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

/** Asks the caller for its roots. Returns the key, and the caller with the answer, so that it is not asked again. */
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
    // A caller that does not answer gets its own connection and is asked there.
    return undefined;
  } finally {
    idleClock?.resume();
  }
}

/** Returns the connections of one server beyond the number to keep, the longest unused first. */
export function surplus(slots: Iterable<PoolSlot>): PoolSlot[] {
  const kept = [...slots].filter(({ isKept }) => isKept).sort((a, b) => b.lastUsed - a.lastUsed);
  return kept.slice(LIMITS.wire.sameRoots);
}
