/**
 * Selects the hits to show: named tools first, then the others by score, without the weak tail.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { NamedTool } from './exact-names.ts';
import type { ScoreParts } from './explanation.ts';
import type { Ranking } from './fusion.ts';
import { comparePositions, type LiveIndex, type Position, positionKey, serverOf } from './live-index.ts';
import { fits, isNoise, isUseful, toRelevance } from './relevance.ts';
import { type Segment, TEXT, textOf } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';

/** One place in the list. */
interface Hit extends Position {
  readonly score: number;
  /** Its name was in the query. */
  readonly named: boolean;
  /** Its name was in the query letter for letter. */
  readonly spelled: boolean;
  /** It shares a word with the query, or means about the same. */
  readonly answers: boolean;
  /** How relevant it is to one of several acts; undefined for a request with one. */
  readonly relevance?: number;
}

/** The hits, and the two highest scores of all tools: the limit does not change the relevance of a hit. */
export interface Selection {
  readonly hits: readonly Hit[];
  readonly best: number;
  readonly second: number;
}

/** If the first hit has this relevance, weak hits after it are not shown. */
const SURE = 0.8;
/** How many tools of one server that mean the same keep their places. */
const REPEATS = 2;
/** From this cosine, two tools of a server are repeats (`get_item`, `get_item_v2`). */
const SAME_MEANING = 0.98;

/** Places are shared in threes: an agent reads the first three. */
const PLACES = 3;
/** Places after those of a default answer are not shared. */
const MOST_SHARED = 10;
/** How many of every three places a server may have while other servers have tools that fit: two if it is about the request. */
const SHARE = { about: 2, other: 1 } as const;
/** A server of at most this many tools is small: it cannot have something for every request. */
const SMALL = 32;
/**
 * From this average cosine of its tools and the request, a server is about the request. Servers that really have several
 * right tools are above it. One that has something for every request is about nothing, however well each of its tools fits.
 */
const ABOUT = { small: 0.1, large: 0.2 } as const;
/**
 * The least standard deviation of these cosines for a large server that is about the request: some of its tools fit and others
 * do not. A sentence that all tools share brings all of them equally near to a request that sounds like it.
 */
const LEAST_SPREAD = 0.08;
/**
 * The score from which a tool of another server fits, so that a full server gives up a place. Only a small server that is about
 * the request keeps its places against weak tools: a large one can be about every request by a sentence in all its descriptions.
 */
const FITS = { aboutAndSmall: 0.3, other: 0.04 } as const;

/** How many hits, and which tools may be among them. */
interface SelectionOptions {
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
  const taken = new Set<number>();
  for (const tool of takeTurns(named.map((tools) => sortNamed(tools, index, ranking, accepts)))) {
    const key = positionKey(tool);
    if (hits.length >= limit || taken.has(key)) continue;
    taken.add(key);
    hits.push({ ...tool, named: true, answers: true });
  }

  let [top = 0, second = 0] = hits.map(({ score }) => score).sort((a, b) => b - a);
  const ranked: Hit[] = [];
  for (const { segment, document } of ranking.candidates) {
    if (!accepts(segment, document) || taken.has(positionKey({ segment, document }))) continue;
    const parts = ranking.partsOf({ segment, document });
    const score = parts.total;
    second = Math.max(second, Math.min(top, score));
    top = Math.max(top, score);
    // Noise takes no place from a weak answer.
    if (!(cut && isNoise(parts))) {
      ranked.push({ segment, document, score, named: false, spelled: false, answers: fits(parts) });
    }
  }
  ranked.sort((a, b) => b.score - a.score || comparePositions(index, a, b));

  const places = hits.length;
  const sure = hits.some(({ spelled }) => spelled) || toRelevance(top, top, second) >= SURE;
  const room = limit - places;
  const claimOf = (hit: Hit): Claim => {
    const isSmall = toolsBeside(index, hit) <= SMALL;
    const { average, spread } = ranking.ofServer(hit) ?? { average: 0, spread: 0 };
    const isAbout = isSmall ? average >= ABOUT.small : average >= ABOUT.large && spread >= LEAST_SPREAD;
    return {
      share: isAbout ? SHARE.about : SHARE.other,
      fits: isAbout && isSmall ? FITS.aboutAndSmall : FITS.other,
    };
  };
  // Some hits that get a place are not worth showing, so more places are shared than shown.
  const shown = sharePlaces(
    index,
    { before: hits, ranked, room: cut ? PLACES * room : room, thin, leaveOut: cut },
    claimOf,
  );
  // The best hit that answers is shown, however weak it is.
  const answer = shown.find((hit) => fits(ranking.partsOf(hit)));
  const beside = besideFirst(index, hits[0] ?? shown[0], ranked);
  const isWorthShowing = (hit: Hit, place: number): boolean =>
    (hit === answer && !(sure && places > 0)) ||
    isUseful(ranking.partsOf(hit), top, places + place, sure) ||
    (places + place < PLACES && beside(hit, ranking.partsOf(hit), places + place));
  hits.push(...(cut ? shown.filter(isWorthShowing).slice(0, Math.max(0, room)) : shown));
  const { relevanceOf } = ranking;
  if (relevanceOf === undefined) return { hits, best: top, second };
  return { hits: hits.map((hit) => ({ ...hit, relevance: relevanceOf(hit) })), best: top, second };
}

/** The hits that have a place, all others by score, and the number of free places. */
interface Sharing {
  readonly before: readonly Hit[];
  readonly ranked: readonly Hit[];
  readonly room: number;
  /** Whether repeats step back, and whether they are left out. */
  readonly thin: boolean;
  readonly leaveOut: boolean;
}

/** How many of every three places a server may have; more if no tool of another server has the score `fits`. */
interface Claim {
  readonly share: number;
  readonly fits: number;
}

/**
 * Gives the places to hits, best first. While other servers have tools that fit, no server has more than its share of the places
 * down to any place. Of repeats two keep their places; the others are left out or come last. Look-alikes of different servers all
 * keep their places, because the server may be what matters.
 */
function sharePlaces(
  index: LiveIndex,
  { before, ranked, room, thin, leaveOut }: Sharing,
  claimOf: (hit: Hit) => Claim,
): Hit[] {
  const held = new Map<string, number>();
  const claims = new Map<string, Claim>();
  const heldBy = (hit: Hit): number => held.get(serverOf(index, hit)) ?? 0;
  const hold = (hit: Hit): void => void held.set(serverOf(index, hit), heldBy(hit) + 1);
  const claim = (hit: Hit): Claim => {
    const server = serverOf(index, hit);
    const known = claims.get(server) ?? claimOf(hit);
    claims.set(server, known);
    return known;
  };
  for (const hit of before) hold(hit);
  const left = [...ranked];
  const kept: Hit[] = [];
  const repeated: Hit[] = [];
  /** Finds the first hit that passes and is no repeat; -1 if there is none. */
  const find = (passes: (hit: Hit) => boolean): number => {
    for (let at = 0; at < left.length; at++) {
      const hit = left[at] as Hit;
      if (!passes(hit)) continue;
      if (!thin || !isRepeat(index, hit, kept)) return at;
      repeated.push(...left.splice(at--, 1));
    }
    return -1;
  };
  while (kept.length < room) {
    const place = before.length + kept.length;
    const isFull = (hit: Hit): boolean =>
      heldBy(hit) > 0 && heldBy(hit) >= Math.ceil((claim(hit).share * (place + 1)) / PLACES);
    let at = find(() => true);
    const next = left[at];
    if (next === undefined) break;
    if (place < MOST_SHARED && isFull(next)) {
      const other = find((hit) => !isFull(hit));
      if (other >= 0 && (left[other] as Hit).score >= claim(next).fits) at = other;
    }
    const [hit] = left.splice(at, 1) as [Hit];
    hold(hit);
    kept.push(hit);
  }
  return leaveOut ? kept : [...kept, ...repeated].slice(0, Math.max(0, room));
}

/** Tells whether a hit repeats two hits of its server that have their places. */
const isRepeat = (index: LiveIndex, hit: Hit, kept: readonly Hit[]): boolean =>
  kept.filter((other) => serverOf(index, other) === serverOf(index, hit) && areAlike(index, other, hit)).length >=
  REPEATS;

/** How many tools a tool's server has. */
function toolsBeside(index: LiveIndex, { segment: position, document }: Position): number {
  const { serverOffsets, documentServers } = (index.segments[position] as LiveSegment).segment;
  const server = documentServers[document] as number;
  return (serverOffsets[server + 1] as number) - (serverOffsets[server] as number);
}

/**
 * Returns a test for hits that are worth showing beside the first hit, however good that one is: those that would be shown if the
 * server of the first hit were not there.
 */
function besideFirst(
  index: LiveIndex,
  first: Hit | undefined,
  ranked: readonly Hit[],
): (hit: Hit, parts: ScoreParts, place: number) => boolean {
  const server = first && serverOf(index, first);
  const [best, next] = ranked.filter((hit) => serverOf(index, hit) !== server).slice(0, 2);
  if (best === undefined) return () => false;
  const sure = toRelevance(best.score, best.score, next?.score ?? 0) >= SURE;
  return (hit, parts, place) =>
    serverOf(index, hit) !== server && (hit === best || isUseful(parts, best.score, place - 1, sure));
}

const VERSION = /[\s._-]*v\d{1,3}$/iu;

/** Tells whether two tools differ only by a version, or mean the same, or, without vectors, have the same summary. */
function areAlike(index: LiveIndex, left: Position, right: Position): boolean {
  const a = (index.segments[left.segment] as LiveSegment).segment;
  const b = (index.segments[right.segment] as LiveSegment).segment;
  const unversioned = (segment: Segment, document: number): string =>
    textOf(segment, document, TEXT.name).slice(-LIMITS.names.tool).replace(VERSION, '');
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

/** Sorts the tools of one name, best first. Of look-alikes of a name only the best of each server stays. */
function sortNamed(
  tools: readonly NamedTool[],
  index: LiveIndex,
  ranking: Ranking,
  accepts: (segment: number, document: number) => boolean,
): (NamedTool & { score: number })[] {
  const servers = new Set<string>();
  return tools
    .filter(({ segment, document }) => accepts(segment, document))
    .map((tool) => ({ ...tool, score: ranking.partsOf(tool).total }))
    .sort((a, b) => Number(b.spelled) - Number(a.spelled) || b.score - a.score || comparePositions(index, a, b))
    .filter((tool) => {
      const server = serverOf(index, tool);
      if (!tool.spelled && servers.has(server)) return false;
      servers.add(server);
      return true;
    });
}

/** Yields one of each list in turn, so that no name takes all the places. */
function* takeTurns<T>(lists: readonly (readonly T[])[]): Generator<T> {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let turn = 0; turn < longest; turn++) {
    for (const list of lists) if (turn < list.length) yield list[turn] as T;
  }
}
