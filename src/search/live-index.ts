/**
 * The segments that count right now, read as one index: how many tools, how many have a term, where its postings are.
 * @module
 */
import { findTerm } from './dictionary.ts';
import { ABOUT_IMPACT } from './document.ts';
import { documentCount, type Segment } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';

/** Where a term occurs: one ordinal a segment (-1: not there), and how many live tools have it. */
export interface TermEntry {
  readonly ordinals: readonly number[];
  readonly count: number;
}

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
  readonly size: number;
  readonly #whole: readonly boolean[];
  readonly #entries = new Map<string, TermEntry>();

  constructor(segments: readonly LiveSegment[]) {
    this.segments = segments;
    const counts = segments.map(liveCount);
    this.#whole = segments.map(({ segment }, index) => counts[index] === documentCount(segment));
    this.size = counts.reduce((sum, count) => sum + count, 0);
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
    for (const [index, ordinal] of ordinals.entries()) {
      if (ordinal < 0) continue;
      const counts = this.#countAt(index, ordinal);
      own += counts.own;
      all += counts.all;
    }
    const entry = { ordinals, count: own > 0 ? own : all };
    this.#entries.set(term, entry);
    return entry;
  }

  /** Whether a live tool of one segment has the term with this ordinal. */
  has(index: number, ordinal: number): boolean {
    return this.#countAt(index, ordinal).all > 0;
  }

  /** Live tools of one segment that have a term themselves, and those included that only their server's description gives it. */
  #countAt(index: number, ordinal: number): { readonly own: number; readonly all: number } {
    const { segment, alive } = this.segments[index] as LiveSegment;
    const { postingDocuments, postingImpacts, postingOffsets } = segment;
    const whole = this.isWhole(index);
    const end = postingOffsets[ordinal + 1] as number;
    let own = 0;
    let all = 0;
    for (let at = postingOffsets[ordinal] as number; at < end; at++) {
      if (!whole && !isAlive(segment, alive, postingDocuments[at] as number)) continue;
      all++;
      if (postingImpacts[at] !== ABOUT_IMPACT) own++;
    }
    return { own, all };
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
