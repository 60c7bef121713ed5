/**
 * Shares few places among callers, so that one caller cannot keep all others out.
 * @module
 */
import { LIMITS } from './limits.ts';
import type { Caller, RateLimit } from './types.ts';

/**
 * The key by which callers take turns: a user may have any number of sessions, and a client without sessions any number
 * of sockets, but usually has one name.
 */
export const turnKey = ({ principal, session, clientName, socket }: Caller): string =>
  principal ?? session ?? clientName ?? socket ?? '';

/**
 * Tells whether a caller may take one more of the free places: at most three quarters are its own then, and the last
 * one goes to a caller that has none.
 */
export const leavesRoom = (held: number, free: number): boolean => free > 0 && (held === 0 || held < 3 * (free - 1));

/** Counts the places of each holder. */
export function tally(holders: Iterable<string>): Map<string, number> {
  const held = new Map<string, number>();
  for (const holder of holders) held.set(holder, (held.get(holder) ?? 0) + 1);
  return held;
}

/** Returns the first of the candidates whose holder has the most places. */
export function ofMost<T>(
  candidates: Iterable<T>,
  holderOf: (candidate: T) => string,
  held: ReadonlyMap<string, number>,
): T | undefined {
  let found: T | undefined;
  let most = 0;
  for (const candidate of candidates) {
    const count = held.get(holderOf(candidate)) ?? 0;
    if (count > most) [found, most] = [candidate, count];
  }
  return found;
}

/** The part of a server's rate that one user may take: three quarters, as of its slots. */
export const shareOf = ({ requestsPerSecond, burst }: RateLimit): RateLimit => ({
  requestsPerSecond: (requestsPerSecond * 3) / 4,
  burst: Math.max(1, Math.floor((burst * 3) / 4)),
});

/** What a caller cannot borrow from another: its login, its session or its socket. A name is anybody's. */
export const ownKey = ({ principal, session, socket }: Caller): string => principal ?? session ?? socket ?? '';

/**
 * Remembers since when callers are known. A caller is known once a call of its own has ended: names, sessions and
 * sockets that are invented to fill all places are newer than the callers that are already here.
 */
export class KnownCallers {
  /** When each caller became known and was last heard of, in milliseconds. */
  readonly #known = new Map<string, { readonly since: number; last: number }>();

  note(key: string, now: number): void {
    const known = this.#known.get(key);
    if (known) {
      known.last = now;
      return;
    }
    if (this.#known.size >= LIMITS.atOnce.knownCallers) this.#forget(now);
    // When the table is full, the newest caller stays unknown.
    if (this.#known.size < LIMITS.atOnce.knownCallers) this.#known.set(key, { since: now, last: now });
  }

  isKnown(key: string): boolean {
    return this.#known.has(key);
  }

  /** How many of `places` a caller has to leave: one for each caller known before it that holds none, at most a quarter. */
  reservedFrom(key: string, places: number, isHolding: (key: string) => boolean, now: number): number {
    const most = Math.max(1, Math.floor(places / 4));
    const since = this.#known.get(key)?.since ?? Number.POSITIVE_INFINITY;
    let reserved = 0;
    // Entries are in the order in which they became known.
    for (const [other, one] of this.#known) {
      if (reserved === most || one.since >= since || places === 1) break;
      if (other !== key && now - one.last < LIMITS.age.session && !isHolding(other)) reserved++;
    }
    return reserved;
  }

  #forget(now: number): void {
    for (const [key, { last }] of this.#known) if (now - last >= LIMITS.age.session) this.#known.delete(key);
  }
}
