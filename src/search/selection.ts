/**
 * Scored tools and named tools in, the list to show out: named ones first, then by score, the weak tail cut off.
 * @module
 */
import type { NamedTool, Position } from './exact-names.ts';
import type { Ranking } from './keyword-ranker.ts';
import type { LiveIndex } from './live-index.ts';
import { toRelevance } from './relevance.ts';
import type { LiveSegment } from './segment-merger.ts';

/** One place in the list. */
export interface Hit extends Position {
  readonly score: number;
  /** Its name was in the query. */
  readonly named: boolean;
}

/** The surer the best hit, the sooner the rest is of no use; three are kept while they are not much worse. */
const FALLOFF = { base: 0.3, sure: 0.5, kept: 3, keptShare: 0.35 };
/** Below this a hit shares hardly a word with the query. */
const LEAST_RELEVANCE = 0.05;

/** How many hits, and which tools may be among them. */
export interface SelectionOptions {
  readonly limit: number;
  /** Whether the weak tail is left out. */
  readonly cut: boolean;
  accepts(segment: number, document: number): boolean;
}

/** Chooses and orders the hits. Ties go by server, then by name, so that the order never depends on history. */
export function select(
  index: LiveIndex,
  ranking: Ranking,
  named: readonly (readonly NamedTool[])[],
  { limit, cut, accepts }: SelectionOptions,
): Hit[] {
  const before = (a: Position & { score: number }, b: Position & { score: number }): boolean =>
    a.score !== b.score ? a.score > b.score : comparePositions(index, a, b) < 0;

  const hits: Hit[] = [];
  const taken = new Set<string>();
  for (const tool of takeTurns(named.map((tools) => sortNamed(tools, index, ranking, accepts)))) {
    const key = `${tool.segment}:${tool.document}`;
    if (hits.length >= limit || taken.has(key)) continue;
    taken.add(key);
    hits.push({ ...tool, named: true });
  }

  const best: Hit[] = [];
  const room = limit - hits.length;
  ranking.forEach((segment, document, score) => {
    const last = best[room - 1];
    if (room <= 0 || (last !== undefined && score < last.score) || !accepts(segment, document)) return;
    if (taken.size > 0 && taken.has(`${segment}:${document}`)) return;
    const hit: Hit = { segment, document, score, named: false };
    let at = best.length;
    while (at > 0 && before(hit, best[at - 1] as Hit)) at--;
    if (at >= room) return;
    best.splice(at, 0, hit);
    if (best.length > room) best.pop();
  });

  hits.push(...best);
  return cut ? hits.filter(strongEnough(hits, ranking.perfect)) : hits;
}

function strongEnough(hits: readonly Hit[], perfect: number): (hit: Hit, position: number) => boolean {
  const top = Math.max(0, ...hits.map(({ score }) => score));
  const certainty = hits[0]?.named === true ? 1 : toRelevance(top, perfect);
  const least = top * (FALLOFF.base + FALLOFF.sure * certainty);
  return ({ named, score }, position) => {
    if (named) return true;
    if (toRelevance(score, perfect) < LEAST_RELEVANCE) return false;
    return score >= (position < FALLOFF.kept ? Math.min(least, top * FALLOFF.keptShare) : least);
  };
}

function sortNamed(
  tools: readonly NamedTool[],
  index: LiveIndex,
  ranking: Ranking,
  accepts: (segment: number, document: number) => boolean,
): (Position & { score: number })[] {
  return tools
    .filter(({ segment, document }) => accepts(segment, document))
    .map(({ segment, document, spelled }) => ({
      segment,
      document,
      spelled,
      score: ranking.scoreOf(segment, document),
    }))
    .sort((a, b) => Number(b.spelled) - Number(a.spelled) || b.score - a.score || comparePositions(index, a, b))
    .map(({ segment, document, score }) => ({ segment, document, score }));
}

/** One of each list in turn, so that no name takes all the places. */
function* takeTurns<T>(lists: readonly (readonly T[])[]): Generator<T> {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let turn = 0; turn < longest; turn++) {
    for (const list of lists) if (turn < list.length) yield list[turn] as T;
  }
}

function comparePositions(index: LiveIndex, a: Position, b: Position): number {
  if (a.segment === b.segment) return a.document - b.document;
  return serverOf(index, a) < serverOf(index, b) ? -1 : 1;
}

/** The server a tool belongs to. */
export function serverOf(index: LiveIndex, { segment, document }: Position): string {
  const { servers, documentServers } = (index.segments[segment] as LiveSegment).segment;
  return servers[documentServers[document] as number] as string;
}
