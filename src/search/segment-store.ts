/**
 * Holds the segments of an index and keeps them few. New servers wait in a buffer and become a segment at the next search.
 * Segments of similar size are merged, so a change costs in proportion to the server that changed. One segment for each server
 * would need no merging, but a search would look every word up in every server.
 * @module
 */
import type { SearchDocument } from './document.ts';
import { Lexicon } from './lexicon.ts';
import { LiveIndex, liveCount } from './live-index.ts';
import { documentCount, type Segment } from './segment.ts';
import { buildSegment, compareText } from './segment-builder.ts';
import { type LiveSegment, mergeSegments } from './segment-merger.ts';
import type { SearchSettings } from './settings.ts';

const NOTHING: Segment = buildSegment(new Map());

/** Holds the segments of one index. */
export class SegmentStore {
  /** Each at least twice as large as the next. */
  #segments: LiveSegment[] = [];
  readonly #homes = new Map<string, { readonly live: LiveSegment; readonly ordinal: number }>();
  readonly #pending = new Map<string, readonly SearchDocument[]>();
  /** Changes to servers that are in a segment. */
  readonly #changes = new Map<string, Change>();
  #lexicon: Lexicon | undefined;
  /** The view of `#segments`; undefined after a change. */
  #index: LiveIndex | undefined;

  /** Starts with a segment that is ready, for example one read from disk. */
  static of(segment: Segment): SegmentStore {
    const store = new SegmentStore();
    store.#push(segment);
    return store;
  }

  /** The lexicon of all documents that are not in a segment yet. */
  lexicon(settings: SearchSettings): Lexicon {
    this.#lexicon ??= new Lexicon(settings);
    return this.#lexicon;
  }

  /** Replaces what is known of a server. */
  set(server: string, documents: ReadonlyMap<string, SearchDocument>): void {
    this.delete(server);
    this.#pending.set(server, sorted(documents));
    this.#index = undefined;
  }

  /** Replaces or adds some documents of a server and forgets those named in `gone`. The others stay. */
  change(server: string, documents: ReadonlyMap<string, SearchDocument>, gone: readonly string[]): void {
    const { changed, removed } = this.#changes.get(server) ?? { changed: new Map(), removed: new Set() };
    const waiting = this.#pending.get(server);
    for (const document of waiting ?? []) changed.set(document.name, document);
    for (const name of gone) {
      changed.delete(name);
      removed.add(name);
    }
    for (const [name, document] of documents) changed.set(name, document);
    if (this.#homes.has(server)) this.#changes.set(server, { changed, removed });
    else this.#pending.set(server, sorted(changed));
    this.#index = undefined;
  }

  /** Forgets a server. */
  delete(server: string): void {
    this.#pending.delete(server);
    this.#changes.delete(server);
    const home = this.#homes.get(server);
    if (home === undefined) return;
    home.live.alive[home.ordinal] = 0;
    this.#index = undefined;
    this.#homes.delete(server);
  }

  /** Forgets everything. */
  clear(): void {
    this.#segments = [];
    this.#homes.clear();
    this.#pending.clear();
    this.#changes.clear();
    this.#index = undefined;
  }

  /** Names of all servers, sorted. */
  servers(): string[] {
    return [...this.#homes.keys(), ...this.#pending.keys()].sort();
  }

  /** How many documents there are. */
  get size(): number {
    this.#applyChanges();
    let size = 0;
    for (const live of this.#segments) size += liveCount(live);
    for (const documents of this.#pending.values()) size += documents.length;
    return size;
  }

  /** The index as it is now. */
  read(): LiveIndex {
    if (this.#index === undefined) this.#tidy();
    this.#index ??= new LiveIndex(this.#segments);
    return this.#index;
  }

  /** Everything as one segment. */
  merged(): Segment {
    this.read();
    while (this.#segments.length > 1) this.#mergeAt(this.#segments.length - 2);
    const [only] = this.#segments;
    if (only === undefined) return NOTHING;
    return only.alive.includes(0) ? compact(only) : only.segment;
  }

  #applyChanges(): void {
    const affected = new Set([...this.#changes.keys()].map((server) => this.#homes.get(server)?.live));
    this.#segments = this.#segments.map((live) => {
      if (!affected.has(live)) return live;
      const ours = [...this.#changes].filter(([server]) => this.#homes.get(server)?.live === live);
      const segment = buildSegment(new Map(ours.map(([server, { changed }]) => [server, sorted(changed)])));
      const gone = new Map(ours.map(([server, { removed }]) => [server, removed]));
      return this.#adopt(mergeSegments(live, { segment, alive: allAlive(segment) }, gone));
    });
    this.#changes.clear();
  }

  #tidy(): void {
    this.#applyChanges();
    if (this.#pending.size > 0) this.#push(buildSegment(this.#pending));
    this.#pending.clear();
    this.#lexicon = undefined;
    this.#segments = this.#segments
      .filter(({ alive }) => alive.includes(1))
      .map((live) => (liveCount(live) * 2 < documentCount(live.segment) ? this.#adopt(compact(live)) : live));
    for (;;) {
      this.#segments.sort((a, b) => liveCount(b) - liveCount(a));
      const sizes = this.#segments.map(liveCount);
      const position = sizes.findLastIndex((size, index) => index > 0 && (sizes[index - 1] as number) < 2 * size);
      if (position < 0) break;
      this.#mergeAt(position - 1);
    }
  }

  /** Merges a segment with the next. */
  #mergeAt(position: number): void {
    const [left, right] = this.#segments.splice(position, 2) as [LiveSegment, LiveSegment];
    this.#push(mergeSegments(left, right));
  }

  #push(segment: Segment): void {
    this.#index = undefined;
    this.#segments.push(this.#adopt(segment));
  }

  #adopt(segment: Segment): LiveSegment {
    const live = { segment, alive: allAlive(segment) };
    for (const [ordinal, server] of segment.servers.entries()) this.#homes.set(server, { live, ordinal });
    return live;
  }
}

interface Change {
  readonly changed: Map<string, SearchDocument>;
  /** Names of removed documents. */
  readonly removed: Set<string>;
}

const allAlive = ({ servers }: Segment): Uint8Array => new Uint8Array(servers.length).fill(1);

const sorted = (documents: ReadonlyMap<string, SearchDocument>): readonly SearchDocument[] =>
  [...documents.values()].sort((a, b) => compareText(a.name, b.name));

const compact = (live: LiveSegment): Segment => mergeSegments(live, { segment: NOTHING, alive: new Uint8Array(0) });
