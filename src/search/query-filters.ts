/**
 * Filters that people write into a query (`server:github`, `-tag:beta`, `name:create_*`, `readonly:true`): query in, the
 * filters and the rest of the text out. `*` stands for any letters; there are no regular expressions here.
 * @module
 */

/** What a filter looks at. */
export type FilterKey = 'server' | 'tag' | 'name' | 'readonly' | 'destructive';

/** One filter; `value` is lower case. */
export interface QueryFilter {
  readonly key: FilterKey;
  readonly value: string;
  /** Whether what fits is left out. */
  readonly not: boolean;
}

/** What of a tool the filters look at. */
export interface Filterable {
  readonly server: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly readOnly: boolean;
  readonly destructive: boolean;
}

const FILTER = /(?<!\S)(-?)(server|tag|name|readonly|destructive):(?:"([^"\n]*)"|(\S+))/giu;
const MOST_FILTERS = 16;
const TRUE = new Set(['true', 'yes', '1']);

/** Takes the filters out of a query. */
export function readFilters(query: string): { readonly filters: readonly QueryFilter[]; readonly text: string } {
  const filters: QueryFilter[] = [];
  const text = query.replace(FILTER, (whole, minus: string, key: string, quoted?: string, bare?: string) => {
    const value = (quoted ?? bare ?? '').toLowerCase();
    if (value === '' || filters.length >= MOST_FILTERS) return whole;
    filters.push({ key: key.toLowerCase() as FilterKey, value, not: minus === '-' });
    return ' ';
  });
  return { filters, text };
}

/** Whether a tool passes: of several filters of one kind one must fit, of each kind; of those with a minus none. */
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

/** One bit a kind: this is asked for every tool there is. */
const KINDS: Readonly<Record<FilterKey, number>> = { server: 1, tag: 2, name: 4, readonly: 8, destructive: 16 };

function matches(tool: Filterable, { key, value }: QueryFilter): boolean {
  switch (key) {
    case 'server':
      return matchesPattern(tool.server.toLowerCase(), value);
    case 'name':
      return matchesPattern(tool.name.toLowerCase(), value);
    case 'tag':
      return tool.tags.some((tag) => matchesPattern(tag.toLowerCase(), value));
    case 'readonly':
      return tool.readOnly === TRUE.has(value);
    case 'destructive':
      return tool.destructive === TRUE.has(value);
  }
}

/** Whether a text fits a pattern in which `*` stands for anything. Takes each piece at its first place, which is enough. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...pieces] = pattern.split('*');
  if (pieces.length === 0) return text === pattern;
  const last = pieces.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
