/**
 * The segments that count right now, read as one index: how many tools, how many have a term, where its postings are.
 * @module
 */
import { findTerm } from './dictionary.ts';
import { ABOUT_IMPACT } from './document.ts';
import { documentCount, type Segment } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';

/** Where a term occurs: one ordinal a segment (-1: not there), how many live tools have it, by `weigh`, and how many servers. */
export interface TermEntry {
  readonly ordinals: readonly number[];
  readonly count: number;
  readonly servers: number;
}

/** More tools of one server than this tell no more about how common a word is. */
const MOST_TELLING = 63;

/**
 * What so many tools of one server count for when the rarity of words is judged. Grows slowly and ends at 6: no server decides
 * how rare a word is, and copies of one tool hardly count.
 */
const weigh = (tools: number): number => WEIGHTS[Math.min(tools, MOST_TELLING)] as number;

const WEIGHTS = Float64Array.from({ length: MOST_TELLING + 1 }, (_, tools) => Math.log2(1 + tools));

/** A tool, by segment and document. */
export interface Position {
  readonly segment: number;
  readonly document: number;
}

/** How many documents of a segment belong to servers that still count. */
export function liveCount({ segment, alive }: LiveSegment): number {
  let count = 0;
  for (let server = 0; server < alive.length; server++) {
    if (alive[server] === 1) {
      count += (segment.serverOffsets[server + 1] as number) - (segment.serverOffsets[server] as number);
    }
  }
  return count;
}

/** A read-only view of the live segments, with the term statistics of one query remembered. */
export class LiveIndex {
  readonly segments: readonly LiveSegment[];
  /** All tools, by `weigh`. */
  readonly size: number;
  /** How many servers there are. */
  readonly servers: number;
  readonly #whole: readonly boolean[];
  readonly #entries = new Map<string, TermEntry>();

  constructor(segments: readonly LiveSegment[]) {
    this.segments = segments;
    const counts = segments.map(liveCount);
    this.#whole = segments.map(({ segment }, index) => counts[index] === documentCount(segment));
    let size = 0;
    let servers = 0;
    for (const { segment, alive } of segments) {
      for (let server = 0; server < alive.length; server++) {
        const tools = (segment.serverOffsets[server + 1] as number) - (segment.serverOffsets[server] as number);
        if (alive[server] !== 1) continue;
        size += weigh(tools);
        servers++;
      }
    }
    this.size = size;
    this.servers = servers;
  }

  /** Whether no server of this segment is gone. */
  isWhole(segment: number): boolean {
    return this.#whole[segment] === true;
  }

  /** Looks a term up in all segments. */
  entry(term: string): TermEntry {
    const known = this.#entries.get(term);
    if (known !== undefined) return known;
    const ordinals = this.segments.map(({ segment }) => findTerm(segment.dictionary, term));
    let own = 0;
    let all = 0;
    let servers = 0;
    for (const [index, ordinal] of ordinals.entries()) {
      if (ordinal < 0) continue;
      const counts = this.#countAt(index, ordinal);
      own += counts.own;
      all += counts.all;
      servers += counts.servers;
    }
    const entry = { ordinals, count: own > 0 ? own : all, servers };
    this.#entries.set(term, entry);
    return entry;
  }

  /** Whether a live tool of one segment has the term with this ordinal. */
  has(index: number, ordinal: number): boolean {
    return this.#countAt(index, ordinal).all > 0;
  }

  /**
   * Live tools of one segment that have a term themselves, those included that only their server's description gives it, and
   * how many servers these are of.
   */
  #countAt(index: number, ordinal: number): { readonly own: number; readonly all: number; readonly servers: number } {
    const { segment, alive } = this.segments[index] as LiveSegment;
    const { postingDocuments, postingImpacts, postingOffsets, documentServers } = segment;
    const whole = this.isWhole(index);
    const end = postingOffsets[ordinal + 1] as number;
    let own = 0;
    let all = 0;
    let servers = 0;
    // Documents of one server come one after the other.
    let server = -1;
    let ownTools = 0;
    let tools = 0;
    for (let at = postingOffsets[ordinal] as number; at < end; at++) {
      const document = postingDocuments[at] as number;
      if (!whole && !isAlive(segment, alive, document)) continue;
      if (documentServers[document] !== server) {
        own += weigh(ownTools);
        all += weigh(tools);
        servers++;
        server = documentServers[document] as number;
        ownTools = 0;
        tools = 0;
      }
      tools++;
      if (postingImpacts[at] !== ABOUT_IMPACT) ownTools++;
    }
    return { own: own + weigh(ownTools), all: all + weigh(tools), servers };
  }
}

/** Whether a document's server still counts. */
export const isAlive = (segment: Segment, alive: Uint8Array, document: number): boolean =>
  alive[segment.documentServers[document] as number] === 1;

/** The server a tool belongs to. */
export function serverOf(index: LiveIndex, { segment, document }: Position): string {
  const { servers, documentServers } = (index.segments[segment] as LiveSegment).segment;
  return servers[documentServers[document] as number] as string;
}

/** Orders tools by server, then by name, as the documents of each segment are. */
export function comparePositions(index: LiveIndex, a: Position, b: Position): number {
  if (a.segment === b.segment) return a.document - b.document;
  return serverOf(index, a) < serverOf(index, b) ? -1 : 1;
}
