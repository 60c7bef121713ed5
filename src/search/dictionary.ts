/**
 * Finds terms in a sorted dictionary: one term, the terms with a prefix, the terms a typo away. The terms are one array of
 * UTF-16 units. Nothing is decoded until it is needed, so a dictionary restored from disk costs nothing.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** Terms in ascending order of their UTF-16 units; term i is `units[offsets[i]..offsets[i + 1])`. */
export interface Dictionary {
  readonly units: Uint16Array;
  readonly offsets: Uint32Array;
}

/** A term near the one asked for, and how many edits away it is. */
interface NearTerm {
  readonly ordinal: number;
  readonly distance: number;
}

/** Writes sorted terms down as a dictionary. */
export function createDictionary(sorted: readonly string[]): Dictionary {
  const offsets = new Uint32Array(sorted.length + 1);
  let total = 0;
  for (const [index, term] of sorted.entries()) {
    total += term.length;
    offsets[index + 1] = total;
  }
  const units = new Uint16Array(total);
  let at = 0;
  for (const term of sorted) for (let index = 0; index < term.length; index++) units[at++] = term.charCodeAt(index);
  return { units, offsets };
}

/** How many terms there are. */
export const termCount = (dictionary: Dictionary): number => dictionary.offsets.length - 1;

/** The term with this ordinal. */
export function termAt({ units, offsets }: Dictionary, ordinal: number): string {
  return String.fromCharCode(...units.subarray(offsets[ordinal], offsets[ordinal + 1]));
}

/** The ordinal of a term, or -1. */
export function findTerm(dictionary: Dictionary, term: string): number {
  const ordinal = lowerBound(dictionary, term);
  return ordinal < termCount(dictionary) && compareTo(dictionary, ordinal, term) === 0 ? ordinal : -1;
}

/** The first ordinal whose term is not less than the given one. */
export function lowerBound(dictionary: Dictionary, term: string): number {
  let low = 0;
  let high = termCount(dictionary);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareTo(dictionary, middle, term) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The half-open range of ordinals whose terms start with a prefix. */
export function prefixRange(dictionary: Dictionary, prefix: string): readonly [start: number, end: number] {
  const start = lowerBound(dictionary, prefix);
  const some = start < termCount(dictionary) && termAt(dictionary, start).startsWith(prefix);
  return [start, some ? endOfPrefix(dictionary, start, prefix.length) : start];
}

function compareTo({ units, offsets }: Dictionary, ordinal: number, term: string): number {
  const start = offsets[ordinal] as number;
  const length = (offsets[ordinal + 1] as number) - start;
  const shared = Math.min(length, term.length);
  for (let index = 0; index < shared; index++) {
    const difference = (units[start + index] as number) - term.charCodeAt(index);
    if (difference !== 0) return difference;
  }
  return length - term.length;
}

/** Units that two terms have in common at their start. */
function sharedLength({ units, offsets }: Dictionary, left: number, right: number): number {
  const a = offsets[left] as number;
  const b = offsets[right] as number;
  const limit = Math.min((offsets[left + 1] as number) - a, (offsets[right + 1] as number) - b);
  let length = 0;
  while (length < limit && units[a + length] === units[b + length]) length++;
  return length;
}

/** The first ordinal after `from` that does not share its first `length` units; gallops, since ranges are mostly short. */
function endOfPrefix(dictionary: Dictionary, from: number, length: number): number {
  const count = termCount(dictionary);
  if (from >= count) return count;
  let low = from;
  let step = 1;
  while (low + step < count && sharedLength(dictionary, from, low + step) >= length) {
    low += step;
    step *= 2;
  }
  let high = Math.min(count, low + step);
  low++;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sharedLength(dictionary, from, middle) >= length) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Terms at most `distance` edits from `word` (insert, delete, replace, swap neighbours), of ordinals `from` to `to`.
 * Walks the sorted terms like a trie: rows of the edit matrix are shared by terms with a common prefix, and a prefix
 * that is already too far away is skipped with all its terms.
 */
export function nearTerms(
  dictionary: Dictionary,
  word: string,
  distance: number,
  from = 0,
  to = termCount(dictionary),
): NearTerm[] {
  const { units, offsets } = dictionary;
  const count = to;
  const width = word.length + 1;
  const depth = word.length + distance;
  const rows = new Uint8Array(width * (depth + 1));
  for (let column = 0; column < width; column++) rows[column] = column;
  const found: NearTerm[] = [];
  let ordinal = from;
  let valid = 0;
  for (let step = 0; ordinal < count && step < LIMITS.search.steps; step++) {
    const start = offsets[ordinal] as number;
    const length = (offsets[ordinal + 1] as number) - start;
    let level = valid;
    let alive = true;
    while (alive && level < length && level < depth) {
      alive = fillRow(rows, level + 1, word, units, start, distance) <= distance;
      level++;
    }
    if (alive && level === length && Math.abs(length - word.length) <= distance) {
      const edits = rows[level * width + word.length] as number;
      if (edits <= distance) found.push({ ordinal, distance: edits });
    }
    const next = alive && level === length ? ordinal + 1 : endOfPrefix(dictionary, ordinal, level);
    if (next < count) valid = Math.min(level, sharedLength(dictionary, ordinal, next));
    ordinal = next;
  }
  return found;
}

/** Computes what may be within `distance` of one row of the edit matrix, and returns the least value. */
function fillRow(
  rows: Uint8Array,
  row: number,
  word: string,
  units: Uint16Array,
  start: number,
  distance: number,
): number {
  const width = word.length + 1;
  const unit = units[start + row - 1] as number;
  const here = row * width;
  const above = here - width;
  const tooFar = distance + 1;
  const first = Math.max(1, row - distance);
  const last = Math.min(word.length, row + distance);
  // Cells further from the diagonal are too far away; their neighbours read that from the cells beside the first and the last.
  rows[here + first - 1] = first === 1 ? row : tooFar;
  if (last < word.length) rows[here + last + 1] = tooFar;
  let least = first === 1 ? row : tooFar;
  for (let column = first; column <= last; column++) {
    const letter = word.charCodeAt(column - 1);
    let value = (rows[above + column - 1] as number) + (letter === unit ? 0 : 1);
    value = Math.min(value, (rows[above + column] as number) + 1, (rows[here + column - 1] as number) + 1);
    if (row > 1 && column > 1 && word.charCodeAt(column - 2) === unit && letter === units[start + row - 2]) {
      value = Math.min(value, (rows[above - width + column - 2] as number) + 1);
    }
    rows[here + column] = value;
    if (value < least) least = value;
  }
  return least;
}
