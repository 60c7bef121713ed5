/**
 * Represents sets of characters as sorted ranges: just enough to tell whether two of them overlap.
 * @module
 */

/** Sorted, non-touching, inclusive ranges of code points. */
export type CharSet = readonly (readonly [number, number])[];

const LAST = 0x10_ffff;

/** Sorts ranges and joins those that touch. */
export function charSet(ranges: readonly (readonly [number, number])[]): CharSet {
  const joined: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const previous = joined.at(-1);
    if (previous !== undefined && from <= previous[1] + 1) previous[1] = Math.max(previous[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/** Returns every character that is not in the set. */
export function complement(set: CharSet): CharSet {
  const rest: [number, number][] = [];
  let next = 0;
  for (const [from, to] of set) {
    if (from > next) rest.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST) rest.push([next, LAST]);
  return rest;
}

/** Tells whether two sets have a character in common. */
export function overlaps(a: CharSet, b: CharSet): boolean {
  let i = 0;
  let j = 0;
  for (;;) {
    const left = a[i];
    const right = b[j];
    if (left === undefined || right === undefined) return false;
    if (left[1] < right[0]) i++;
    else if (right[1] < left[0]) j++;
    else return true;
  }
}

const DIGIT = charSet([[0x30, 0x39]]);
const WORD = charSet([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]);
const SPACE = charSet([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]);

/** The sets of `\d`, `\w`, `\s` and their opposites. */
export const CLASS_ESCAPES: ReadonlyMap<string, CharSet> = new Map([
  ['d', DIGIT],
  ['D', complement(DIGIT)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', SPACE],
  ['S', complement(SPACE)],
]);

/** The set of `.`. */
export const ANY_BUT_LINE_END = complement(
  charSet([
    [0x0a, 0x0a],
    [0x0d, 0x0d],
    [0x2028, 0x2029],
  ]),
);
