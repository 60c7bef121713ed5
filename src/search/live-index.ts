/**
 * Reads the live segments as one index: how many tools there are, how many have a term, and where its postings are.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { findTerm } from './dictionary.ts';
import { ABOUT_IMPACT } from './document.ts';
import { Scratch } from './scratch.ts';
import type { Segment } from './segment.ts';
import type { LiveSegment } from './segment-merger.ts';

/** Where a term occurs: one ordinal a segment (-1: not there), how many live tools have it, by `weigh`, and how many servers. */
export interface TermEntry {
  readonly ordinals: readonly number[];
  readonly count: number;
  readonly servers: number;
  /** The server with the most of these tools, what it counts for, and what the next one does. */
  readonly most: ServerPosition & { readonly weight: number };
  readonly second: number;
}

/** A server, by segment and number; -1 for none. */
export interface ServerPosition {
  readonly segment: number;
  readonly server: number;
}

/** Whether a server is the one that has a term most. */
const isMost = ({ most }: TermEntry, { segment, server }: ServerPosition): boolean =>
  most.segment === segment && most.server === server;

/**
 * How common a term is for the tools of one server: the other server that has it most is left out. So no server changes what
 * the words are worth that only one other server has, or none.
 */
export const countFor = (entry: TermEntry, position: ServerPosition): number =>
  Math.max(0, entry.count - (isMost(entry, position) ? entry.second : entry.most.weight));

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

/** One number for a tool. Segments are few and documents fit in 32 bits. */
export const positionKey = ({ segment, document }: Position): number => segment * 2 ** 32 + document;

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

/** A read-only view of the live segments. Keeps the entries of terms until the segments change. */
export class LiveIndex {
  readonly segments: readonly LiveSegment[];
  /** All tools, by `weigh`. */
  readonly size: number;
  /** How many servers there are. */
  readonly servers: number;
  /** By segment, whether none of its servers is gone. */
  readonly whole: readonly boolean[];
  /** For the search that runs now. */
  readonly scratch = new Scratch();
  readonly #entries = new Map<string, TermEntry>();

  constructor(segments: readonly LiveSegment[]) {
    this.segments = segments;
    this.whole = segments.map(({ alive }) => !alive.includes(0));
    let size = 0;
    let servers = 0;
    for (const { segment, alive } of segments) {
      for (let server = 0; server < alive.length; server++) {
        if (alive[server] !== 1) continue;
        size += weigh((segment.serverOffsets[server + 1] as number) - (segment.serverOffsets[server] as number));
        servers++;
      }
    }
    this.size = size;
    this.servers = servers;
  }

  /** Where a live server is. */
  positionOf(name: string): ServerPosition {
    const places = this.segments.map(({ segment }) => segment.servers.indexOf(name));
    const segment = places.findIndex((server, at) => this.segments[at]?.alive[server] === 1);
    return { segment, server: places[segment] ?? -1 };
  }

  /** Looks a term up in all segments. */
  entry(term: string): TermEntry {
    const known = this.#entries.get(term);
    if (known !== undefined) return known;
    const ordinals = this.segments.map(({ segment }) => findTerm(segment.dictionary, term));
    const own = new Tally();
    const all = new Tally();
    for (const [index, ordinal] of ordinals.entries()) if (ordinal >= 0) this.#countAt(index, ordinal, own, all);
    const { count, most, second } = own.count > 0 ? own : all;
    const entry = { ordinals, count, servers: all.servers, most, second };
    if (this.#entries.size >= LIMITS.search.entries) this.#entries.clear();
    this.#entries.set(term, entry);
    return entry;
  }

  /** Whether a live tool of one segment has the term with this ordinal. */
  has(index: number, ordinal: number): boolean {
    if (this.whole[index] === true) return true;
    const all = new Tally();
    this.#countAt(index, ordinal, new Tally(), all);
    return all.count > 0;
  }

  /** Tallies the live tools of one segment that have a term themselves, and with those that only their server's description gives it. */
  #countAt(index: number, ordinal: number, own: Tally, all: Tally): void {
    const { segment, alive } = this.segments[index] as LiveSegment;
    const { postingDocuments, postingImpacts, postingOffsets, documentServers, serverOffsets } = segment;
    const end = postingOffsets[ordinal + 1] as number;
    // Documents of one server come one after the other.
    for (let at = postingOffsets[ordinal] as number; at < end; ) {
      const server = documentServers[postingDocuments[at] as number] as number;
      const next = serverOffsets[server + 1] as number;
      let tools = 0;
      let ownTools = 0;
      for (; at < end && (postingDocuments[at] as number) < next; at++) {
        tools++;
        if (postingImpacts[at] !== ABOUT_IMPACT) ownTools++;
      }
      if (alive[server] !== 1) continue;
      own.add(index, server, weigh(ownTools));
      all.add(index, server, weigh(tools));
    }
  }
}

/** Adds up what servers count for. */
class Tally {
  count = 0;
  servers = 0;
  most = { segment: -1, server: -1, weight: 0 };
  second = 0;

  add(segment: number, server: number, weight: number): void {
    this.count += weight;
    this.servers++;
    if (weight > this.most.weight) {
      this.second = this.most.weight;
      this.most = { segment, server, weight };
    } else this.second = Math.max(this.second, weight);
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
