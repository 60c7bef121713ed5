/**
 * Records facts about the result of a call: its size, and flags such as `invalid_output`. They are kept with the call,
 * because a server's result is passed on unchanged.
 * @module
 */
import type { ToolCall } from '../core/types.ts';

/** Records the size of the result, as JSON in bytes. */
export function noteBytes({ notes }: ToolCall, bytes: number): void {
  if (notes) notes.bytes = bytes;
}

/** Adds a flag, once. */
export function noteFlag({ notes }: ToolCall, flag: string): void {
  if (notes && !notes.flags?.includes(flag)) notes.flags = [...(notes.flags ?? []), flag];
}
