/**
 * Names what is counted separately for each user of a server: with credentials of its own, one user's failures and calls
 * say nothing about another's.
 * @module
 */

/** No name of a server has this character. */
const BETWEEN = '\0';

/** The key of one user's part of a server; the server's name where all callers share it. */
export const ownedKey = (server: string, owner: string | undefined): string =>
  owner === undefined ? server : `${server}${BETWEEN}${owner}`;

/** Returns the server in a key. */
export function serverIn(key: string): string {
  const end = key.indexOf(BETWEEN);
  return end < 0 ? key : key.slice(0, end);
}

/** Tells whether a key is of one user's part of a server. */
export const isOwnedKey = (key: string): boolean => key.includes(BETWEEN);
