/**
 * A misspelt name and the valid ones in, the one that was probably meant out.
 * @module
 */

/** The valid name closest to the written one, if it is close enough to be a misspelling. */
export function nearestName(written: string, valid: readonly string[]): string | undefined {
  if (written.length > 60) return undefined;
  const wanted = written.toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const name of valid) {
    const candidate = name.toLowerCase();
    const distance = editDistance(wanted, candidate);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
