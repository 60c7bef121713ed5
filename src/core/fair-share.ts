/**
 * Shares few places among callers, so that one caller cannot keep all others out.
 * @module
 */
import type { Caller } from './types.ts';

/**
 * The key by which callers take turns: a client without sessions may have any number of sockets, but usually has one
 * name.
 */
export const turnKey = ({ session, principal, clientName, socket }: Caller): string =>
  session ?? principal ?? clientName ?? socket ?? '';

/**
 * Tells whether a caller may take one more of the free places: at most three quarters are its own then, and the last
 * one goes to a caller that has none.
 */
export const leavesRoom = (held: number, free: number): boolean => free > 0 && (held === 0 || held < 3 * (free - 1));
