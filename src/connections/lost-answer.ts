/**
 * Whose message was lost? One too long to read still shows, at its beginning or its end, what it was.
 * @module
 */

const ANSWER_WITH_ID = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"\s*:/;
const ANSWER = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/;
const QUESTION =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"id"\s*:\s*(?:\d{1,15}|"[^"]{0,200}")\s*,\s*)?"method"\s*:/;
// The SDK for TypeScript writes the result first and the id last.
const LAST_ID = /"id"\s*:\s*(\d{1,15})\s*\}\s*$/;

/**
 * The id of the request that an over-long message answers; `none` when it is a request or notification of the server's
 * own, `unknown` when nobody can say.
 */
export function lostAnswer(head: string, tail: string | undefined): number | 'none' | 'unknown' {
  const first = ANSWER_WITH_ID.exec(head)?.[1];
  if (first !== undefined) return Number(first);
  if (QUESTION.test(head)) return 'none';
  const last = tail !== undefined && ANSWER.test(head) ? LAST_ID.exec(tail)?.[1] : undefined;
  return last === undefined ? 'unknown' : Number(last);
}

/** Whether a message, of which this is the beginning, is surely no answer and surely no notification: it has an id and a method. */
export const isRequest = (head: string): boolean => REQUEST_WITH_ID.test(head);

const REQUEST_WITH_ID =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{0,200}")\s*,\s*"method"\s*:/;
const QUOTE = '"';
const METHOD_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:/;

/** The id of an over-long request; null when it is none, or nobody can say. */
export function lostRequest(head: string, tail: string | undefined): string | number | null {
  const first = REQUEST_WITH_ID.exec(head)?.[1];
  const id = first ?? (tail !== undefined && METHOD_FIRST.test(head) ? LAST_ID.exec(tail)?.[1] : undefined);
  if (id === undefined) return null;
  return id.startsWith(QUOTE) ? id.slice(1, -1) : Number(id);
}
