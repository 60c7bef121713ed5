/**
 * What steps learn about the result of a call without touching it: its size, and flags such as `invalid_output`. Kept with the
 * call, because what a server returned is handed on unchanged.
 * @module
 */
import type { ToolCall } from '../core/types.ts';

/** Remembers how large the result is, as JSON in bytes. */
export function noteBytes({ notes }: ToolCall, bytes: number): void {
  if (notes) notes.bytes = bytes;
}

/** Adds a flag, once. */
export function noteFlag({ notes }: ToolCall, flag: string): void {
  if (notes && !notes.flags?.includes(flag)) notes.flags = [...(notes.flags ?? []), flag];
}
