/**
 * Finds the request that an unread message belongs to, from the beginning and the end of the message.
 * @module
 */
import type { Wire } from './json-rpc.ts';

/** What a peer says about the messages it needs. */
export type Listener = Pick<Wire, 'awaited' | 'relaysNotifications'>;

const ANSWER_WITH_ID = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"\s*:/;
const ANSWER = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/;
const QUESTION =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"id"\s*:\s*(?:\d{1,15}|"[^"]{0,200}")\s*,\s*)?"method"\s*:/;
// The TypeScript SDK writes the result first and the id last.
const LAST_ID = /"id"\s*:\s*(\d{1,15})\s*\}\s*$/;

/**
 * Returns the id of the request that an over-long message answers; `none` for a request or notification of the server
 * itself, `unknown` if it cannot be told.
 */
export function lostAnswer(head: string, tail: string | undefined): number | 'none' | 'unknown' {
  const first = ANSWER_WITH_ID.exec(head)?.[1];
  if (first !== undefined) return Number(first);
  if (QUESTION.test(head)) return 'none';
  const last = tail !== undefined && ANSWER.test(head) ? LAST_ID.exec(tail)?.[1] : undefined;
  return last === undefined ? 'unknown' : Number(last);
}

/** Tells whether a large message is needed, from its beginning: notifications and late answers are not. */
export function isWanted({ awaited, relaysNotifications }: Listener, head: string, tail: string | undefined): boolean {
  const id = lostAnswer(head, tail);
  if (typeof id === 'number') return !awaited || awaited(id) !== undefined;
  return id === 'unknown' || !NOTIFICATION.test(head) || relaysNotifications?.() === true;
}

/** Tells whether a message answers a request of ours that is in flight. */
export function isAwaited({ awaited }: Listener, head: string, tail: string): boolean {
  const id = lostAnswer(head, tail);
  return typeof id === 'number' && awaited?.(id) !== undefined;
}

/** By its method: a request may have its id at the end. */
const NOTIFICATION = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:\s*"notifications\//;
const REQUEST_WITH_ID =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{0,200}")\s*,\s*"method"\s*:/;
const QUOTE = '"';
const METHOD_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:/;

/** Returns the id of an over-long request; null if it is no request or cannot be told. */
export function lostRequest(head: string, tail: string | undefined): string | number | null {
  const first = REQUEST_WITH_ID.exec(head)?.[1];
  const id = first ?? (tail !== undefined && METHOD_FIRST.test(head) ? LAST_ID.exec(tail)?.[1] : undefined);
  if (id === undefined) return null;
  return id.startsWith(QUOTE) ? id.slice(1, -1) : Number(id);
}
