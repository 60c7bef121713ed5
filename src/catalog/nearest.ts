/**
 * "Did you mean …": the names nearest to one that does not exist.
 * @module
 */

/** At most `limit` of the candidates, the most similar first; those that resemble nothing are left out. */
export function nearest(wanted: string, candidates: Iterable<string>, limit = 3): string[] {
  const target = wanted.toLowerCase().slice(0, 64);
  const scored: { readonly name: string; readonly score: number }[] = [];
  let seen = 0;
  for (const name of candidates) {
    if (++seen > 20_000) break;
    const score = similarity(target, name.toLowerCase().slice(0, 64));
    if (score >= 0.45) scored.push({ name, score });
  }
  scored.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, limit).map(({ name }) => name);
}

/** Shared pairs of letters, with a bonus for containing one another. In [0, 1]. */
function similarity(a: string, b: string): number {
  if (a === b) return 1;
  if (a.length > 2 && b.length > 2 && (b.includes(a) || a.includes(b))) return 0.9;
  const pairs = new Map<string, number>();
  for (let i = 0; i + 1 < a.length; i++) pairs.set(a.slice(i, i + 2), (pairs.get(a.slice(i, i + 2)) ?? 0) + 1);
  let shared = 0;
  for (let i = 0; i + 1 < b.length; i++) {
    const count = pairs.get(b.slice(i, i + 2)) ?? 0;
    if (count > 0) {
      shared++;
      pairs.set(b.slice(i, i + 2), count - 1);
    }
  }
  const total = Math.max(1, a.length + b.length - 2);
  return (2 * shared) / total;
}
