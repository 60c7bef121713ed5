/**
 * Scored tools and named tools in, the list to show out: named ones first, then by score, the weak tail cut off.
 * @module
 */
import type { NamedTool } from './exact-names.ts';
import type { Ranking } from './fusion.ts';
import { comparePositions, type LiveIndex, type Position, serverOf } from './live-index.ts';
import { fits, isNoise, isUseful, toRelevance } from './relevance.ts';
import { type Segment, TEXT, textOf } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';

/** One place in the list. */
export interface Hit extends Position {
  readonly score: number;
  /** Its name was in the query. */
  readonly named: boolean;
}

/** The list, and the two highest scores of a list as long as one likes: what is shown does not change what it is worth. */
export interface Selection {
  readonly hits: readonly Hit[];
  readonly best: number;
  readonly second: number;
}

/** From this relevance of the first on, the others must earn their places. */
const SURE = 0.8;
/** How many tools of one server that mean the same keep their places. */
const REPEATS = 2;
/** The cosine from which on two tools of a server are the same thing twice (`get_item`, `get_item_v2`). */
const SAME_MEANING = 0.98;

const MAX_NAME = 256;

/** How many hits, and which tools may be among them. */
export interface SelectionOptions {
  readonly limit: number;
  /** Whether the weak tail is left out. */
  readonly cut: boolean;
  /** Whether tools of one server that mean the same step back. */
  readonly thin: boolean;
  accepts(segment: number, document: number): boolean;
}

/** Chooses and orders the hits. Ties go by server, then by name, so that the order never depends on history. */
export function select(
  index: LiveIndex,
  ranking: Ranking,
  named: readonly (readonly NamedTool[])[],
  { limit, cut, thin, accepts }: SelectionOptions,
): Selection {
  const hits: Hit[] = [];
  const taken = new Set<string>();
  for (const tool of takeTurns(named.map((tools) => sortNamed(tools, index, ranking, accepts)))) {
    const key = `${tool.segment}:${tool.document}`;
    if (hits.length >= limit || taken.has(key)) continue;
    taken.add(key);
    hits.push({ ...tool, named: true });
  }

  let [top = 0, second = 0] = hits.map(({ score }) => score).sort((a, b) => b - a);
  const ranked: Hit[] = [];
  for (const { segment, document } of ranking.candidates) {
    if (!accepts(segment, document) || taken.has(`${segment}:${document}`)) continue;
    const parts = ranking.partsOf({ segment, document });
    const score = parts.total;
    second = Math.max(second, Math.min(top, score));
    top = Math.max(top, score);
    // However much noise there is, it takes no place from a weak answer.
    if (!(cut && isNoise(parts))) ranked.push({ segment, document, score, named: false });
  }
  ranked.sort((a, b) => b.score - a.score || comparePositions(index, a, b));

  const places = hits.length;
  const sure = places > 0 || toRelevance(top, top, second) >= SURE;
  const room = limit - places;
  const shown = thin ? withoutRepeats(index, ranked, room, cut) : ranked.slice(0, room);
  // The best that answers at all is shown however weak it is, and however many stand before it that do not.
  const answer = shown.find((hit) => fits(ranking.partsOf(hit)));
  const isWorthShowing = (hit: Hit, place: number): boolean =>
    (hit === answer && !(sure && places > 0)) || isUseful(ranking.partsOf(hit), top, places + place, sure);
  hits.push(...(cut ? shown.filter(isWorthShowing) : shown));
  return { hits, best: top, second };
}

/**
 * The first `most` hits. Of tools of one server that mean the same, two keep their places; the others are left out, or come
 * after everything else where the caller wants so many. Look-alikes of different servers all keep theirs: which server it is
 * may be what matters.
 */
function withoutRepeats(index: LiveIndex, hits: readonly Hit[], most: number, leaveOut: boolean): Hit[] {
  const kept: Hit[] = [];
  const repeated: Hit[] = [];
  for (const hit of hits) {
    if (kept.length >= most) break;
    const alike = kept.filter(
      (other) => serverOf(index, other) === serverOf(index, hit) && areAlike(index, other, hit),
    );
    (alike.length < REPEATS ? kept : repeated).push(hit);
  }
  return leaveOut ? kept : [...kept, ...repeated].slice(0, Math.max(0, most));
}

const VERSION = /[\s._-]*v\d{1,3}$/iu;

/** Whether two tools differ by a version only, mean the same to the vectors, or, without any, say the same. */
function areAlike(index: LiveIndex, left: Position, right: Position): boolean {
  const a = (index.segments[left.segment] as LiveSegment).segment;
  const b = (index.segments[right.segment] as LiveSegment).segment;
  const unversioned = (segment: Segment, document: number): string =>
    textOf(segment, document, TEXT.name).slice(-MAX_NAME).replace(VERSION, '');
  if (unversioned(a, left.document) === unversioned(b, right.document)) return true;
  const dimensions = a.meanings.length / a.documentServers.length;
  if (dimensions === 0 || b.meanings.length === 0) {
    return textOf(a, left.document, TEXT.summary) === textOf(b, right.document, TEXT.summary);
  }
  let sum = 0;
  for (let at = 0; at < dimensions; at++) {
    sum +=
      (a.meanings[left.document * dimensions + at] as number) *
      (b.meanings[right.document * dimensions + at] as number);
  }
  const scales = (a.meaningScales[left.document] as number) * (b.meaningScales[right.document] as number);
  return sum * scales >= SAME_MEANING;
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
      score: ranking.partsOf({ segment, document }).total,
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
