/**
 * Shares few places among callers, so that one caller cannot keep all others out.
 * @module
 */
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

/** The part of a server's rate that one user may take: three quarters, as of its slots. */
export const shareOf = ({ requestsPerSecond, burst }: RateLimit): RateLimit => ({
  requestsPerSecond: (requestsPerSecond * 3) / 4,
  burst: Math.max(1, Math.floor((burst * 3) / 4)),
});
