/**
 * Writes JSON in short steps, with the same text as `JSON.stringify`. Long strings are written in slices, because the
 * runtime escapes some of them slowly, such as lone surrogates.
 * @module
 */
import { slices } from './json-bytes.ts';

/** Values written in one step. */
const VALUES_A_STEP = 1_000;
/** In characters. A shorter string is written at once. */
const LONG_STRING = 32 * 1024;

/** Returns what `JSON.stringify` returns for a value without cycles; `null` instead of undefined. */
export function* writeInSteps(value: unknown): Generator<void, string> {
  const pieces: string[] = [];
  let left = VALUES_A_STEP;
  yield* write(value);
  return pieces.join('');

  function* write(item: unknown): Generator<void, void> {
    if (--left === 0) {
      left = VALUES_A_STEP;
      yield;
    }
    if (typeof item === 'string' && item.length > LONG_STRING) yield* writeString(item);
    else if (typeof item !== 'object' || item === null || hasOwnWords(item))
      pieces.push(JSON.stringify(item) ?? 'null');
    else if (Array.isArray(item)) yield* writeArray(item);
    else yield* writeRecord(item as Readonly<Record<string, unknown>>);
  }

  function* writeString(text: string): Generator<void, void> {
    pieces.push('"');
    for (const slice of slices(text)) {
      pieces.push(JSON.stringify(slice).slice(1, -1));
      yield;
    }
    pieces.push('"');
  }

  function* writeArray(items: readonly unknown[]): Generator<void, void> {
    pieces.push('[');
    for (let at = 0; at < items.length; at++) {
      if (at > 0) pieces.push(',');
      yield* write(items[at]);
    }
    pieces.push(']');
  }

  function* writeRecord(record: Readonly<Record<string, unknown>>): Generator<void, void> {
    let before = '{';
    for (const key of Object.keys(record)) {
      const member = record[key];
      if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
      pieces.push(before, JSON.stringify(key), ':');
      before = ',';
      yield* write(member);
    }
    pieces.push(before === '{' ? '{}' : '}');
  }
}

const hasOwnWords = (value: object): boolean => typeof (value as { toJSON?: unknown }).toJSON === 'function';
