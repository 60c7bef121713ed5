/**
 * Writes the notes of a search answer: which servers were not searched and why, and what was withheld.
 * @module
 */
import type { ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { SearchResult } from '../core/types.ts';
import { oneLine, shortAdvice } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Discovery } from './discovery.ts';

/** A best hit with a lower relevance is wrong four times out of five. */
export const WEAK = 0.2;

/** Returns a few short notes: an agent pays for every word. */
export function searchNotes(
  discovery: Discovery,
  unseen: readonly string[],
  results: readonly SearchResult[],
  withheld: number,
  unapproved = 0,
): string[] {
  const notes: string[] = [];
  const missing = discovery.unseen().filter((server) => unseen.includes(server));
  for (const server of missing.slice(0, LIMITS.answer.servers)) {
    const failure = discovery.failure(server);
    notes.push(`${server} not searched: ${failure ? reasonOf(server, failure) : 'still starting, try again'}`);
  }
  const more = missing.length - LIMITS.answer.servers;
  if (more > 0) notes.push(`${more} more ${more === 1 ? 'server' : 'servers'} not searched; list_mcp_servers says why`);
  const stale = [...new Set(results.map((result) => result.server))].filter((server) => discovery.isStale(server));
  const isAway = (server: string) => discovery.failure(server) !== undefined;
  for (const [what, servers] of [
    ['server unreachable', stale.filter(isAway)],
    ['not read again yet', stale.filter((server) => !isAway(server))],
  ] as const)
    if (servers.length > 0)
      notes.push(`list older than a day, ${what}: ${servers.slice(0, LIMITS.answer.servers).join(', ')}`);
  if (withheld > 0) notes.push(`${withheld} matching ${withheld === 1 ? 'tool is' : 'tools are'} disabled`);
  const [best] = results;
  const isWeak = best === undefined || best.relevance < WEAK;
  if (isWeak && unapproved > 0)
    notes.push(
      `${unapproved} ${unapproved === 1 ? 'tool waits' : 'tools wait'} for approval; a person can look: anygpt mcp pending`,
    );
  if (best !== undefined && isWeak) notes.push(GUESSES);
  // An answer without hits and notes would look like an error.
  if (results.length === 0 && notes.length === 0) notes.push(NOTHING);
  return notes;
}

const GUESSES = 'nothing fits well; these are guesses';
const NOTHING = 'nothing fits; try other words, or list_mcp_servers';

/** Joins the notes of several states to one answer: what is true of one alone may not be true of all. */
export function joinedNotes(parts: readonly (readonly string[])[], [best]: readonly SearchResult[]): string[] {
  const notes = [...new Set(parts.flat())].filter((note) => note !== GUESSES && note !== NOTHING);
  if (best === undefined) return notes.length > 0 ? notes : [NOTHING];
  return best.relevance < WEAK ? [...notes, GUESSES] : notes;
}

/** The command that a person types, where a login is possible. */
const LOGIN = 'anygpt mcp login';

/** The user whose login is needed, as a word of that command. */
const FOR_USER = / --as (?:[^\s']+|'[^']*')(?= |$)/;

/** One line; of a longer one the clauses that fit, unless that is less than half. */
function inShort(text: string, maxChars: number): string {
  const line = oneLine(text, LIMITS.text.message);
  const end = line.length > maxChars ? line.lastIndexOf('; ', maxChars) : -1;
  return end > maxChars / 2 ? line.slice(0, end) : oneLine(line, maxChars);
}

/** A short reason, without the server's name, which is already written before it and would begin every part of it. */
function reasonOf(server: string, { code, message }: Pick<ErrorInfo, 'code' | 'message'>): string {
  if (code === 'SERVER_AUTH_REQUIRED')
    return message.includes(LOGIN)
      ? `login needed: ${LOGIN} ${shellWord(server)}${FOR_USER.exec(message)?.[0] ?? ''}`
      : 'login needed';
  const subjects = [`${server}: `, `${server} is `, `${server} `];
  const why = message
    .split(/(?<=: )/)
    .map((part) => part.slice(subjects.find((subject) => part.startsWith(subject))?.length ?? 0))
    .join('');
  // Only our own messages may tell a person what to type.
  return code === 'CONFIGURATION_ERROR' ? shortAdvice(why, LIMITS.answer.reason) : inShort(why, LIMITS.answer.reason);
}
