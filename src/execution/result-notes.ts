/**
 * What steps learn about a result without touching it: its size, and flags such as `invalid_output`.
 * Kept beside the result, because what a server returned is handed on unchanged.
 * @module
 */
import type { CallToolResult } from '../types.ts';

/** Facts about one result. */
export interface ResultNotes {
  /** Size as JSON, in bytes. */
  readonly bytes?: number | undefined;
  /** Things an operator should see, for example `invalid_schema` or `invalid_output`. */
  readonly flags?: readonly string[] | undefined;
}

const notes = new WeakMap<CallToolResult, ResultNotes>();
const NONE: ResultNotes = {};

/** Gives what is known about a result. */
export const notesOf = (result: CallToolResult): ResultNotes => notes.get(result) ?? NONE;

/** Remembers how large a result is. */
export function noteBytes(result: CallToolResult, bytes: number): void {
  notes.set(result, { bytes, flags: notes.get(result)?.flags });
}

/** Adds a flag to a result. */
export function noteFlag(result: CallToolResult, flag: string): void {
  const known = notes.get(result);
  if (known?.flags?.includes(flag)) return;
  notes.set(result, { ...known, flags: [...(known?.flags ?? []), flag] });
}

/** Carries the flags over to the result that replaces another. */
export function carryFlags(from: CallToolResult, to: CallToolResult): void {
  for (const flag of notesOf(from).flags ?? []) noteFlag(to, flag);
}
