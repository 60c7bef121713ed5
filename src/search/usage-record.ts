/**
 * Records which tools were used after which queries, and says how much each is raised for a similar query. A query is kept as
 * hashes of its content words. Two queries are similar by the words they share. Evidence halves every month.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ToolScore } from '../core/types.ts';
import { type ParsedQuery, parseQuery } from './query.ts';
import { readUsageDocument, USAGE_VERSION, type UsageDocument } from './usage-document.ts';

/** A tool that was used after similar queries, how much that raises it (0 to 1), and why. */
export interface LearntTool extends ToolScore {
  /** How often it was used after similar queries. */
  readonly uses: number;
  /** When it was last used, in milliseconds since 1970. */
  readonly lastUsed: number;
}

export interface UsageRecordOptions {
  /** Hashes a word; the same word must always give the same hash. */
  readonly hash: (word: string) => string;
  /** Whether queries are also kept as they were written. */
  readonly keepQueries?: boolean | undefined;
}

interface ToolUse {
  readonly server: string;
  readonly tool: string;
  uses: number;
  /** The evidence as it was at `last`. */
  weight: number;
  last: number;
}

interface KnownQuery {
  readonly words: ReadonlySet<string>;
  text: string | undefined;
  readonly tools: Map<string, ToolUse>;
}

const HALF_LIFE_MS = 30 * 24 * 3_600_000;
/** Two queries that are less similar than this have nothing to say about each other. */
const LEAST_LIKE = 0.3;
/** Half the words in common counts much less than half: a neighbour of the tool may be meant. */
const STEEPNESS = 3;
/** A word that no known query has speaks against all of them. */
const UNKNOWN_WORD = 2;
/** The evidence that one use has to outweigh: one use raises by half, more uses raise more, never to 1. */
const DOUBT = 1;
/** The most tools that are raised for one query. */
const MOST_TOOLS = 32;
/** Weaker evidence is dropped: half a year after a single use. */
const FORGOTTEN = 0.015;

/** The uses of one principal. Bounded: the weakest are forgotten first. */
export class UsageRecord {
  readonly #hash: (word: string) => string;
  readonly #keepQueries: boolean;
  readonly #queries = new Map<string, KnownQuery>();
  readonly #byWord = new Map<string, Set<KnownQuery>>();

  constructor({ hash, keepQueries = false }: UsageRecordOptions) {
    this.#hash = hash;
    this.#keepQueries = keepQueries;
  }

  /** The record that `toJSON` wrote; an empty one for anything else. */
  static from(data: unknown, options: UsageRecordOptions): UsageRecord {
    const record = new UsageRecord(options);
    for (const { words, text, uses } of readUsageDocument(data)?.queries ?? []) {
      const query = record.#queryOf(words, text);
      for (const use of uses) query.tools.set(toolKey(use.server, use.tool), { ...use });
    }
    return record;
  }

  /** How many different queries are known. */
  get size(): number {
    return this.#queries.size;
  }

  /** Notes that a tool was used after a query; `weight` says how much that teaches, 1 being a plain use. */
  record(query: string, server: string, tool: string, at: number, weight = 1): void {
    const words = this.#wordsOf(query);
    if (words.length === 0 || server.length > LIMITS.usage.name || tool.length > LIMITS.usage.name) return;
    const known = this.#queryOf(words, query.slice(0, LIMITS.usage.text));
    const key = toolKey(server, tool);
    const before = known.tools.get(key);
    if (before === undefined) known.tools.set(key, { server, tool, uses: 1, weight, last: at });
    else {
      // Clocks of several processes may differ: the later time counts.
      const last = Math.max(before.last, at);
      before.weight = faded(before, last) + weight;
      before.uses++;
      before.last = last;
    }
    if (known.tools.size > LIMITS.usage.tools) dropWeakest(known, at);
    if (this.#queries.size > LIMITS.usage.queries) this.#forgetWeakest(at);
  }

  /** Returns the tools that were used after similar queries, best first. */
  learntFor(query: string | ParsedQuery, now: number): LearntTool[] {
    if (this.#queries.size === 0) return [];
    const words = this.#wordsOf(query);
    const weightOf = (word: string): number => (this.#byWord.has(word) ? 1 : UNKNOWN_WORD);
    const asked = words.reduce((sum, word) => sum + weightOf(word), 0);
    const shared = new Map<KnownQuery, number>();
    for (const word of words)
      for (const known of this.#byWord.get(word) ?? []) shared.set(known, (shared.get(known) ?? 0) + 1);

    const found = new Map<string, { server: string; tool: string; evidence: number; uses: number; lastUsed: number }>();
    let all = 0;
    for (const [known, common] of shared) {
      const likeness = common / (asked + known.words.size - common);
      if (likeness < LEAST_LIKE) continue;
      for (const [key, use] of known.tools) {
        const evidence = faded(use, now) * likeness ** STEEPNESS;
        const { server, tool, uses, last } = use;
        const before = found.get(key);
        found.set(key, {
          server,
          tool,
          evidence: evidence + (before?.evidence ?? 0),
          uses: uses + (before?.uses ?? 0),
          lastUsed: Math.max(last, before?.lastUsed ?? last),
        });
        all += evidence;
      }
    }
    // Several tools share the gain.
    return [...found.values()]
      .map(({ evidence, ...rest }) => ({ ...rest, score: evidence / (all + DOUBT) }))
      .sort((a, b) => b.score - a.score || compare(a.server, b.server) || compare(a.tool, b.tool))
      .slice(0, MOST_TOOLS);
  }

  /** The record as plain data, at most `LIMITS.usage.bytes` of JSON. */
  toJSON(): UsageDocument {
    const tools = new Map<string, number>();
    const names: [string, string][] = [];
    const queries: UsageDocument['queries'][number][] = [];
    let bytes = 0;
    for (const { words, text, tools: uses } of this.#strongestFirst()) {
      const entry: UsageDocument['queries'][number] = {
        words: [...words],
        uses: [...uses].map(([key, { server, tool, uses: count, weight, last }]) => {
          let at = tools.get(key);
          if (at === undefined) {
            at = names.push([server, tool]) - 1;
            tools.set(key, at);
            bytes += byteLength(names[at]);
          }
          return [at, count, Number(weight.toFixed(3)), last];
        }),
        ...(this.#keepQueries && text !== undefined && { text }),
      };
      bytes += byteLength(entry);
      if (bytes > LIMITS.usage.bytes) break;
      queries.push(entry);
    }
    return { version: USAGE_VERSION, tools: names, queries };
  }

  /** Leaves out values (paths, names, numbers): they say nothing about the tool and may be private. */
  #wordsOf(query: string | ParsedQuery): string[] {
    const parsed = typeof query === 'string' ? parseQuery(query) : query;
    const terms = parsed.terms.filter(({ bonus, weight }) => !bonus && weight === 1);
    return [...new Set(terms.slice(0, LIMITS.usage.words).map(({ term }) => this.#hash(term)))].sort();
  }

  #queryOf(words: readonly string[], text: string | undefined): KnownQuery {
    const key = words.join(' ');
    let query = this.#queries.get(key);
    if (query === undefined) {
      query = { words: new Set(words), text: undefined, tools: new Map() };
      this.#queries.set(key, query);
      for (const word of query.words) {
        const others = this.#byWord.get(word);
        if (others === undefined) this.#byWord.set(word, new Set([query]));
        else others.add(query);
      }
    }
    if (this.#keepQueries) query.text = text;
    return query;
  }

  /**
   * Leaves out faded evidence. Its age is counted from the median time of use: a clock that was wrong for a while must not make
   * everything else look old.
   */
  #strongestFirst(): KnownQuery[] {
    const times = [...this.#queries.values()].flatMap(({ tools }) => [...tools.values()].map(lastOf));
    const middle = times.sort((a, b) => a - b)[Math.floor((times.length - 1) / 2)] ?? 0;
    return [...this.#queries.values()]
      .map((query) => ({ query, strength: strengthOf(query, middle) }))
      .filter(({ strength }) => strength >= FORGOTTEN)
      .sort((a, b) => b.strength - a.strength)
      .map(({ query }) => query);
  }

  /** Forgets a tenth at a time, so that it happens rarely. */
  #forgetWeakest(now: number): void {
    const weakest = [...this.#queries]
      .map(([key, query]) => ({ key, query, strength: strengthOf(query, now) }))
      .sort((a, b) => a.strength - b.strength)
      .slice(0, Math.ceil(LIMITS.usage.queries / 10));
    for (const { key, query } of weakest) {
      this.#queries.delete(key);
      for (const word of query.words) {
        const others = this.#byWord.get(word);
        others?.delete(query);
        if (others?.size === 0) this.#byWord.delete(word);
      }
    }
  }
}

const toolKey = (server: string, tool: string): string => JSON.stringify([server, tool]);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const lastOf = ({ last }: ToolUse): number => last;

const byteLength = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length + 1;

const faded = ({ weight, last }: ToolUse, now: number): number =>
  weight * 0.5 ** (Math.max(0, now - last) / HALF_LIFE_MS);

const strengthOf = ({ tools }: KnownQuery, now: number): number =>
  [...tools.values()].reduce((sum, use) => sum + faded(use, now), 0);

function dropWeakest({ tools }: KnownQuery, now: number): void {
  const [weakest] = [...tools].sort(([, a], [, b]) => faded(a, now) - faded(b, now));
  if (weakest) tools.delete(weakest[0]);
}
