/**
 * Finds servers of a registry by meaning, with the search that finds tools: a publisher stands for a server, and each of
 * its servers for a tool. So no publisher can take all places of an answer.
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { LIMITS } from '../core/limits.ts';
import type { ToolMetadata } from '../core/types.ts';
import { SearchEngine } from '../search/search-engine.ts';
import { publisherOf, type RegistryEntry, shortNameOf } from './registry-server.ts';

/** A server that was found. */
export interface RegistryHit {
  readonly name: string;
  readonly version: string;
  readonly summary: string;
  /** From 0 to 1. */
  readonly relevance: number;
  /** How it can be used: `remote`, `npm`, `pypi`, `oci`, `nuget`, `mcpb`; and `deprecated`. */
  readonly tags: readonly string[];
}

const DEPRECATED = 'deprecated';
const OPTIONS = { phrases: false } as const;
/** Servers that are indexed before other work gets its turn. */
const STEP = 200;
/** Servers that are packed together. */
const PACKED = 1_000;

/** What a search has to know of an entry. */
export function toDocument({ server, status }: RegistryEntry): ToolMetadata {
  const { name, title, description, version, packages, remotes } = server;
  const kinds = new Set([
    ...(remotes.length > 0 ? ['remote'] : []),
    ...packages.map(({ registryType }) => registryType),
  ]);
  return {
    server: publisherOf(name),
    name: shortNameOf(name),
    title,
    summary: description,
    signature: version,
    keywords: [...packages.map(({ identifier }) => identifier), ...remotes.map(({ url }) => url.split('/')[2] ?? '')],
    tags: [...[...kinds].slice(0, LIMITS.shown.named), ...(status === DEPRECATED ? [DEPRECATED] : [])],
    enabled: status !== DEPRECATED,
  };
}

export class RegistryIndex {
  readonly #engine: SearchEngine;

  constructor(engine: SearchEngine = new SearchEngine(OPTIONS)) {
    this.#engine = engine;
  }

  /** Returns the index in bytes from `parts`; undefined when another version made them. */
  static from(bytes: Uint8Array): RegistryIndex | undefined {
    // Copied, because the index is read through typed arrays, which need aligned bytes.
    const engine = SearchEngine.fromSnapshot(bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes), OPTIONS);
    return engine && new RegistryIndex(engine);
  }

  /** Replaces the servers of publishers. */
  async set(publishers: Iterable<readonly [publisher: string, documents: readonly ToolMetadata[]]>): Promise<void> {
    let left = STEP;
    let waiting = 0;
    for (const [publisher, documents] of publishers) {
      this.#engine.setServer(publisher, documents);
      left -= documents.length + 1;
      if (left > 0) continue;
      waiting += STEP - left;
      left = STEP;
      // A search packs what was read; until then a server takes ten times the memory.
      if (waiting >= PACKED) waiting = this.#engine.search('x', { limit: 0 }).length;
      await setImmediate();
    }
  }

  /** Replaces or adds servers and forgets those named in `gone`; all others stay as they are. */
  async change(documents: Iterable<ToolMetadata>, gone: Iterable<string>): Promise<void> {
    const changed = byPublisher(documents);
    const removed = new Map<string, string[]>();
    for (const name of gone)
      removed.set(publisherOf(name), [...(removed.get(publisherOf(name)) ?? []), shortNameOf(name)]);
    for (const publisher of new Set([...changed.keys(), ...removed.keys()])) {
      const steps = this.#engine.changeServerInSteps(
        publisher,
        changed.get(publisher) ?? [],
        removed.get(publisher) ?? [],
      );
      while (steps.next().done !== true) await setImmediate();
    }
  }

  /** The index in bytes, part by part. They are the index itself: write them before it changes. */
  parts(): readonly Uint8Array[] {
    return this.#engine.snapshotParts();
  }

  /** The best servers for a query, best first, deprecated ones last. */
  search(query: string, limit?: number): RegistryHit[] {
    // Deprecated servers must not take the places of others.
    const most = limit === undefined ? undefined : Math.min(2 * limit, LIMITS.search.results);
    const found = this.#engine.find(query, { limit: most, includeDisabled: true }).results;
    const hits = found.map(({ server, tool, summary, relevance, tags, args = '' }) => ({
      name: `${server}/${tool}`,
      version: args,
      summary,
      relevance,
      tags,
    }));
    const isOld = ({ tags }: RegistryHit): boolean => tags.includes(DEPRECATED);
    return [...hits.filter((hit) => !isOld(hit)), ...hits.filter(isOld)].slice(0, limit);
  }
}

/** Groups documents by publisher. */
export function byPublisher(documents: Iterable<ToolMetadata>): Map<string, ToolMetadata[]> {
  const groups = new Map<string, ToolMetadata[]>();
  for (const document of documents) {
    const group = groups.get(document.server);
    if (group === undefined) groups.set(document.server, [document]);
    else group.push(document);
  }
  return groups;
}
