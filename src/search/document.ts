/**
 * A tool in, a document out: its terms with their impacts, and the few strings a hit shows.
 * @module
 */
import type { ToolMetadata } from '../types.ts';
import { readSchema } from './schema-text.ts';
import type { Field, FieldSettings, SearchSettings } from './settings.ts';
import { stem } from './stemmer.ts';
import { isStopWord } from './stop-words.ts';
import { nameKey, tokenize } from './tokenizer.ts';

/** A tool as the index keeps it. */
export interface SearchDocument {
  readonly name: string;
  readonly summary: string;
  readonly signature: string;
  readonly tags: readonly string[];
  readonly enabled: boolean;
  /** Term to impact: the saturated, field-weighted frequency, 1 to 65535; 0 for the name's key. */
  readonly terms: ReadonlyMap<string, number>;
}

/** The largest impact a term can have. */
export const FULL_IMPACT = 65_535;

/**
 * The impact of a word that only its server's description has. Such postings do not count when a term's rarity is
 * judged: one talkative server would make its favourite words look common.
 */
export const ABOUT_IMPACT = 6_553;

/** Terms that start with this are keys of whole names; it sorts before every word. */
export const NAME_KEY = '\u0000';

const MAX_DESCRIPTION = 4_096;
const MAX_SHORT_TEXT = 512;
const MAX_LABELS = 64;

/** Builds the document of one tool; `about` is what is known of its server. */
export function toDocument(tool: ToolMetadata, about: string, settings: SearchSettings): SearchDocument {
  const frequencies = new Map<string, number>();
  const add = (field: Field, texts: readonly string[]): void => addField(frequencies, texts, settings.fields[field]);

  const schema = tool.inputSchema === undefined ? undefined : readSchema(tool.inputSchema);
  const parameters = schema === undefined ? (tool.parameters ?? []).slice(0, 256) : [];
  add('name', [tool.name.slice(0, MAX_SHORT_TEXT)]);
  add('title', [toText(tool.title ?? tool.annotations?.title).slice(0, MAX_SHORT_TEXT)]);
  add('server', [tool.server.slice(0, MAX_SHORT_TEXT)]);
  add('description', [(tool.description ?? tool.summary).slice(0, MAX_DESCRIPTION)]);
  add('parameterNames', schema?.names ?? parameters.map(({ name }) => name));
  add(
    'parameterDescriptions',
    schema?.descriptions ?? parameters.map(({ description }) => description.slice(0, 1_024)),
  );
  add('values', schema?.values ?? []);
  add('tags', labels(tool.tags));
  add('keywords', labels(tool.keywords ?? []));

  const terms = new Map<string, number>();
  for (const [term, frequency] of frequencies) {
    const impact = Math.max(1, Math.round((FULL_IMPACT * frequency) / (settings.k1 + frequency)));
    terms.set(term, impact === ABOUT_IMPACT ? ABOUT_IMPACT + 1 : impact);
  }
  for (const term of toTerms(about.slice(0, MAX_SHORT_TEXT)).terms) {
    if (!terms.has(term)) terms.set(term, ABOUT_IMPACT);
  }
  terms.set(NAME_KEY + nameKey(tool.name), 0);
  return {
    name: tool.name,
    summary: tool.summary,
    signature: tool.signature ?? '',
    tags: tool.tags,
    enabled: tool.enabled,
    terms,
  };
}

/** Annotations come from servers unchecked. */
const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

const labels = (values: readonly string[]): string[] =>
  values.slice(0, MAX_LABELS).map((value) => value.slice(0, MAX_SHORT_TEXT));

function addField(frequencies: Map<string, number>, texts: readonly string[], field: FieldSettings): void {
  const read = texts.map(toTerms);
  const length = read.reduce((sum, { words }) => sum + words, 0);
  const share = field.weight / (1 - field.b + (field.b * length) / field.length);
  if (share <= 0) return;
  for (const { terms } of read) {
    for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + share);
  }
}

/** The terms of a text, and how many words it has when an identifier counts by its parts. */
function toTerms(text: string): { readonly terms: readonly string[]; readonly words: number } {
  const terms: string[] = [];
  let words = 0;
  for (const { text: word, kind } of text === '' ? [] : tokenize(text)) {
    if (isStopWord(word)) continue;
    if (kind !== 'compound') words++;
    terms.push(kind === 'compound' ? word : stem(word));
  }
  return { terms, words };
}
