/**
 * Finds the known names nearest to a misspelt one, for "Did you mean …".
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** How much of two names must be shared, in pairs of letters, to be worth a suggestion. */
const ALIKE = 0.45;

/**
 * Returns the one name that was probably meant: a typo of at most a third of its letters, or a difference of case and
 * separators only.
 */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  if (written.length > LIMITS.names.compared) return undefined;
  const wanted = simplify(written);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of first(known, 1000)) {
    const distance = slip(wanted, simplify(name));
    if (distance === 0) return name;
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/**
 * Returns at most `limit` names worth suggesting, likeliest first: typos, then names that contain one another, then
 * similar ones.
 */
export function nearestNames(written: string, known: Iterable<string>, limit = 3): string[] {
  const wanted = simplify(written.slice(0, LIMITS.names.compared));
  const pairs = pairsOf(wanted);
  const scored: { readonly name: string; readonly score: number }[] = [];
  for (const name of first(known, 20_000)) {
    const score = likeness(wanted, pairs, simplify(name.slice(0, LIMITS.names.compared)));
    if (score > 0) scored.push({ name, score });
  }
  scored.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, limit).map(({ name }) => name);
}

/** `Did you mean "a" or "b"?`; without names, another hint. */
export const didYouMean = (near: readonly string[], otherwise = ''): string =>
  near.length > 0 ? `Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : otherwise;

/** Counts insertions, deletions, replacements and swaps of neighbours between two words; stops at `limit`. */
export function editDistance(a: string, b: string, limit = Number.POSITIVE_INFINITY): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let cost = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + same,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, (before[column - 2] as number) + 1);
      if (cost < least) least = cost;
      current.push(cost);
    }
    // A swap looks two rows back, so one row above the limit is not yet the end.
    if (least > limit) return limit;
    before = last;
    last = current;
  }
  return Math.min(limit, last[b.length] as number);
}

const simplify = (name: string): string => name.toLowerCase().replace(/[-_. ]/g, '');

/** Returns the edit distance if it is small enough for a typo, else infinity. */
function slip(wanted: string, name: string): number {
  if (name.length > LIMITS.names.compared) return Number.POSITIVE_INFINITY;
  const allowed = Math.max(1, Math.floor(Math.max(wanted.length, name.length) / 3));
  const distance = editDistance(wanted, name, allowed + 1);
  return distance <= allowed ? distance : Number.POSITIVE_INFINITY;
}

function likeness(wanted: string, pairs: ReadonlyMap<number, number>, name: string): number {
  const distance = slip(wanted, name);
  if (Number.isFinite(distance)) return 3 - distance / LIMITS.names.compared;
  const [short, long] = wanted.length < name.length ? [wanted, name] : [name, wanted];
  if (short.length > 2 && long.includes(short)) return 2 - (long.length - short.length) / LIMITS.names.compared;
  let shared = 0;
  for (const [pair, count] of pairsOf(name)) shared += Math.min(count, pairs.get(pair) ?? 0);
  const share = (2 * shared) / Math.max(1, wanted.length + name.length - 2);
  return share >= ALIKE ? share : 0;
}

/** Counts each pair of neighbouring letters. */
function pairsOf(text: string): Map<number, number> {
  const pairs = new Map<number, number>();
  for (let at = 1; at < text.length; at++) {
    const pair = text.charCodeAt(at - 1) * 65_536 + text.charCodeAt(at);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  for (const item of items) {
    if (count-- <= 0) return;
    yield item;
  }
}
