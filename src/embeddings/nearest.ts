/**
 * Finds the tools whose vectors are most similar to a query's. Reads every row in small steps, so that other work is
 * not delayed.
 * @module
 */
import type { ToolScore } from '../core/types.ts';
import type { VectorTable } from './vector-table.ts';

const ROWS_PER_STEP = 256;

/** The share of one server before all others have theirs: a server with many tools must not crowd out the others. */
const SERVER_SHARE = 0.25;
/** Shorter lists are not shared. */
const LEAST_SHARE = 16;

/** Returns the `most` best by cosine, best first; ties by name. */
export function* nearest(
  tables: Iterable<readonly [server: string, table: VectorTable]>,
  unit: Float32Array,
  most: number,
): Generator<void, ToolScore[]> {
  const perServer = Math.max(LEAST_SHARE, Math.ceil(most * SERVER_SHARE));
  let found: ToolScore[] = [];
  let further: ToolScore[] = [];
  for (const [server, table] of tables) {
    if (table.dimensions !== unit.length) continue;
    let best: ToolScore[] = [];
    let worst = Number.NEGATIVE_INFINITY;
    const cut = () => {
      best = best.sort(byScore).slice(0, most);
      if (best.length === most) worst = best.at(-1)?.score ?? worst;
    };
    for (const [row, tool] of table.names.entries()) {
      if (row % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
      if (!table.has(row)) continue;
      const score = table.cosine(row, unit);
      if (score < worst) continue;
      best.push({ server, tool, score });
      if (best.length >= most * 4) cut();
    }
    cut();
    found = bestOf([...found, ...best.slice(0, perServer)], most);
    further = bestOf([...further, ...best.slice(perServer)], most);
  }
  return bestOf([...found, ...further.slice(0, most - found.length)], most);
}

const bestOf = (scores: ToolScore[], most: number): ToolScore[] => scores.sort(byScore).slice(0, most);

const byScore = (a: ToolScore, b: ToolScore): number =>
  b.score - a.score || compare(a.server, b.server) || compare(a.tool, b.tool);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
