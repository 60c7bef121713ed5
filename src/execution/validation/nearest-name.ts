/**
 * The known name closest to one that was probably meant. Names in, at most one name out.
 * @module
 */

const MAX_LENGTH = 64;
const MAX_NAMES = 1_000;

/** The nearest name, if any is near enough to be a slip: a third of its letters at most, or only case and separators. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plain = simplify(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  let left = MAX_NAMES;
  for (const candidate of known) {
    if (left-- === 0) break;
    if (candidate.length > MAX_LENGTH) continue;
    const other = simplify(candidate);
    if (other === plain) return candidate;
    const distance = editDistance(plain, other, bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

const simplify = (name: string): string => name.toLowerCase().replace(/[-_. ]/g, '');

/** Insertions, deletions, replacements and swaps of neighbours; `limit` when there are at least so many. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return Math.min(limit, previous[b.length] ?? limit);
}
