/**
 * Reads the filters that people write into a query: `server:github`, `-tag:beta`, `name:create_*`, `readonly:true`,
 * `domain:github.issues`. `*` stands for any letters; there are no regular expressions.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** What a filter looks at. */
type FilterKey = 'server' | 'tag' | 'name' | 'readonly' | 'destructive' | 'domain' | 'category';

/** One filter; `value` is lower case. */
export interface QueryFilter {
  readonly key: FilterKey;
  readonly value: string;
  /** The value cut at its stars. */
  readonly pieces: readonly string[];
  /** Whether matching tools are excluded. */
  readonly not: boolean;
}

/** What an index knows of a tool. */
export interface IndexedTool {
  readonly server: string;
  readonly name: string;
  readonly summary: string;
  readonly readOnly: boolean;
}

/** Infers what a tool is about (`github`, `github.issues`) and what it does (`crud.read`). */
export interface Classifier {
  domains(tool: IndexedTool): readonly string[];
  categories(tool: IndexedTool): readonly string[];
}

/** The properties of a tool that filters test. */
export interface Filterable {
  readonly server: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly domains: readonly string[];
  readonly categories: readonly string[];
}

const FILTER = /(?<!\S)(-?)(server|tag|name|readonly|destructive|domain|category):(?:"([^"\n]*)"|(\S+))/giu;
const TRUE = new Set(['true', 'yes', '1']);

/** Tells whether a query may have filters by domain or category. */
export const asksForClasses = (query: string): boolean => /(?<!\S)-?(?:domain|category):/i.test(query);

const CLASS_KEYS: ReadonlySet<string> = new Set(['domain', 'category']);

/** Takes the filters out of a query. Without `classes`, those by domain and category stay, as words. */
export function readFilters(
  query: string,
  classes = true,
): { readonly filters: readonly QueryFilter[]; readonly text: string } {
  const filters: QueryFilter[] = [];
  const text = query.replace(FILTER, (whole, minus: string, key: string, quoted?: string, bare?: string) => {
    const value = (quoted ?? bare ?? '').toLowerCase();
    const pieces = value.split('*');
    const isUsable =
      value !== '' && value.length <= LIMITS.search.filterValue && pieces.length <= LIMITS.search.filterStars + 1;
    const kind = key.toLowerCase() as FilterKey;
    if (!isUsable || filters.length >= LIMITS.search.filters || (!classes && CLASS_KEYS.has(kind))) return whole;
    filters.push({ key: kind, value, pieces, not: minus === '-' });
    return ' ';
  });
  return { filters, text };
}

/** Tells whether a tool passes: one filter of each kind must match, and none with a minus. */
export function passes(tool: Filterable, filters: readonly QueryFilter[]): boolean {
  let wanted = 0;
  let met = 0;
  for (const filter of filters) {
    const fits = matches(tool, filter);
    if (filter.not && fits) return false;
    if (filter.not) continue;
    wanted |= KINDS[filter.key];
    if (fits) met |= KINDS[filter.key];
  }
  return wanted === met;
}

/** One bit a kind, because every tool is tested. */
const KINDS: Readonly<Record<FilterKey, number>> = {
  server: 1,
  tag: 2,
  name: 4,
  readonly: 8,
  destructive: 16,
  domain: 32,
  category: 64,
};

function matches(tool: Filterable, { key, value, pieces }: QueryFilter): boolean {
  switch (key) {
    case 'server':
      return matchesPattern(tool.server.toLowerCase(), pieces);
    case 'name':
      return matchesPattern(tool.name.toLowerCase(), pieces);
    case 'tag':
      return tool.tags.some((tag) => matchesPattern(tag.toLowerCase(), pieces));
    case 'readonly':
      return tool.readOnly === TRUE.has(value);
    case 'destructive':
      return tool.destructive === TRUE.has(value);
    case 'domain':
      return tool.domains.some((domain) => matchesPattern(domain, pieces));
    case 'category':
      return tool.categories.some((category) => matchesPattern(category, pieces));
  }
}

/** Tells whether a text has these pieces in order with anything between them. The first place of each piece is enough. */
export function matchesPattern(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? '';
  const last = pieces[pieces.length - 1] ?? '';
  if (pieces.length < 2) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (let place = 1; place < pieces.length - 1; place++) {
    const piece = pieces[place] as string;
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
