/**
 * Records facts about the result of a call: its size, and flags such as `invalid_output`. They are kept with the call,
 * because a server's result is passed on unchanged.
 * @module
 */
import type { ToolCall } from './types.ts';

/** Records the size of the result, as JSON in bytes. */
export function noteBytes({ notes }: ToolCall, bytes: number): void {
  if (notes) notes.bytes = bytes;
}

/** A shorter wait is the hand-over of an open connection, not a connect. */
const LEAST_CONNECT_MS = 1;

/** Adds the time a call waited for a connection. */
export function noteConnect({ notes }: ToolCall, ms: number): void {
  if (notes && ms >= LEAST_CONNECT_MS) notes.connectMs = (notes.connectMs ?? 0) + ms;
}

/** Flag of a call that was sent more than once, although the server may have executed it the first time. */
export const SENT_AGAIN = 'sent_again';

/** Adds a flag, once. */
export function noteFlag({ notes }: ToolCall, flag: string): void {
  if (notes && !notes.flags?.includes(flag)) notes.flags = [...(notes.flags ?? []), flag];
}
