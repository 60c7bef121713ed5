/**
 * Checks a usage record that was read from disk: returns it if it is whole and of this version, otherwise nothing.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';

/** Raised whenever the shape, or what makes a query's words, changes. */
export const USAGE_VERSION = 1;

/** What is written to disk. */
export interface UsageDocument {
  readonly version: number;
  /** Server and name of each tool. */
  readonly tools: readonly (readonly [string, string])[];
  readonly queries: readonly {
    /** Hashes of its words. */
    readonly words: readonly string[];
    /** Place in `tools`, number of uses, evidence, time of the last use. */
    readonly uses: readonly (readonly [number, number, number, number])[];
    /** The query as written; only with `search.keepQueries`. */
    readonly text?: string | undefined;
  }[];
}

/** One query of a document, with its tools by name. */
interface ReadQuery {
  readonly words: readonly string[];
  readonly text: string | undefined;
  readonly uses: readonly { server: string; tool: string; uses: number; weight: number; last: number }[];
}

/** Reads a document; undefined if it is not a valid one. */
export function readUsageDocument(data: unknown): { readonly queries: readonly ReadQuery[] } | undefined {
  if (!isObject(data) || data.version !== USAGE_VERSION) return undefined;
  const { tools, queries } = data;
  if (!isList(tools, LIMITS.usage.queries * LIMITS.usage.tools) || !tools.every(isName)) return undefined;
  if (!isList(queries, LIMITS.usage.queries)) return undefined;
  const read: ReadQuery[] = [];
  for (const query of queries) {
    const one = readQuery(query, tools);
    if (one === undefined) return undefined;
    read.push(one);
  }
  return { queries: read };
}

function readQuery(query: unknown, names: readonly (readonly [string, string])[]): ReadQuery | undefined {
  if (!isObject(query)) return undefined;
  const { words, uses, text } = query;
  if (!isList(words, LIMITS.usage.words) || words.length === 0) return undefined;
  if (!words.every((word) => isText(word, LIMITS.search.word)) || !isList(uses, LIMITS.usage.tools)) return undefined;
  if (text !== undefined && !isText(text, LIMITS.usage.text)) return undefined;
  const read = [];
  for (const use of uses) {
    if (!isList(use, 4) || use.length < 4 || !use.every((figure) => typeof figure === 'number' && figure >= 0))
      return undefined;
    const [at, count, weight, last] = use as [number, number, number, number];
    const name = names[at];
    if (name === undefined) return undefined;
    read.push({ server: name[0], tool: name[1], uses: count, weight, last });
  }
  return { words: words as string[], text: text as string | undefined, uses: read };
}

const isList = (value: unknown, most: number): value is unknown[] => Array.isArray(value) && value.length <= most;

const isText = (value: unknown, most: number): value is string => typeof value === 'string' && value.length <= most;

const isName = (value: unknown): value is [string, string] =>
  isList(value, 2) && value.length === 2 && value.every((part) => isText(part, LIMITS.usage.name));
