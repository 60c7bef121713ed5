/**
 * Tables of vectors and a query's vector in, the most alike tools out: every row is looked at, in small steps, so that
 * nobody else waits long.
 * @module
 */
import type { ToolScore } from '../types.ts';
import type { VectorTable } from './vector-table.ts';

const ROWS_PER_STEP = 256;

/** The `most` best by cosine, best first; equal ones by name. */
export function* nearest(
  tables: Iterable<readonly [server: string, table: VectorTable]>,
  unit: Float32Array,
  most: number,
): Generator<void, ToolScore[]> {
  let best: ToolScore[] = [];
  let worst = Number.NEGATIVE_INFINITY;
  const cut = () => {
    best = best.sort(byScore).slice(0, most);
    if (best.length === most) worst = best.at(-1)?.score ?? worst;
  };
  for (const [server, table] of tables) {
    if (table.dimensions !== unit.length) continue;
    for (const [row, tool] of table.names.entries()) {
      if (row % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
      if (!table.has(row)) continue;
      const score = table.cosine(row, unit);
      if (score < worst) continue;
      best.push({ server, tool, score });
      if (best.length >= most * 4) cut();
    }
  }
  cut();
  return best;
}

const byScore = (a: ToolScore, b: ToolScore): number =>
  b.score - a.score || compare(a.server, b.server) || compare(a.tool, b.tool);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
