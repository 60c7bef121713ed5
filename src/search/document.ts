/**
 * A tool in, a document out: its terms with their impacts, and the few strings a hit shows.
 * @module
 */
import type { ToolMetadata } from '../types.ts';
import type { Meaning } from './meaning-model.ts';
import { toolWords } from './meaning-text.ts';
import { phrasesOf } from './phrase-book.ts';
import { readSchema } from './schema-text.ts';
import { FLAG } from './segment.ts';
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
  /** Bits of `FLAG`. */
  readonly flags: number;
  /** Term to impact: the saturated, field-weighted frequency, 1 to 65535; 0 for the name's key. */
  readonly terms: ReadonlyMap<string, number>;
  /** What it means; undefined without a model or when no word of it is known. */
  readonly meaning: Meaning | undefined;
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

/** What a field adds to each term's frequency. */
export type FieldShares = ReadonlyMap<string, number>;

/** Builds the document of one tool; `about` is what is known of its server. */
export function toDocument(tool: ToolMetadata, about: string, settings: SearchSettings): SearchDocument {
  const frequencies = new Map<string, number>();
  for (const [field, texts] of fieldTexts(tool, settings)) {
    addField(frequencies, texts, settings.fields[field]);
  }
  const terms = new Map<string, number>();
  for (const [term, frequency] of frequencies) {
    const impact = Math.max(1, Math.round((FULL_IMPACT * frequency) / (settings.k1 + frequency)));
    terms.set(term, impact === ABOUT_IMPACT ? ABOUT_IMPACT + 1 : impact);
  }
  for (const term of aboutTerms(about)) if (!terms.has(term)) terms.set(term, ABOUT_IMPACT);
  terms.set(NAME_KEY + nameKey(tool.name), 0);
  return {
    name: tool.name,
    summary: tool.summary,
    signature: tool.signature ?? '',
    tags: tool.tags,
    flags: flagsOf(tool),
    terms,
    meaning: settings.model?.ofTool(toolWords(tool)),
  };
}

/** What each field of a tool adds to a term's frequency, for those who ask why a tool was found. */
export function fieldShares(tool: ToolMetadata, settings: SearchSettings): Map<Field, FieldShares> {
  const shares = new Map<Field, FieldShares>();
  for (const [field, texts] of fieldTexts(tool, settings)) {
    const frequencies = new Map<string, number>();
    addField(frequencies, texts, settings.fields[field]);
    shares.set(field, frequencies);
  }
  return shares;
}

/** The terms that a server's description gives its tools. */
export const aboutTerms = (about: string): readonly string[] => toTerms(about.slice(0, MAX_SHORT_TEXT)).terms;

/** The texts of a tool, field by field. */
function fieldTexts(tool: ToolMetadata, settings: SearchSettings): [Field, readonly string[]][] {
  const schema = tool.inputSchema ? readSchema(tool.inputSchema) : undefined;
  const parameters = schema === undefined ? (tool.parameters ?? []).slice(0, 256) : [];
  return [
    ['name', [tool.name.slice(0, MAX_SHORT_TEXT)]],
    ['title', [toText(tool.title ?? tool.annotations?.title).slice(0, MAX_SHORT_TEXT)]],
    ['server', [tool.server.slice(0, MAX_SHORT_TEXT)]],
    ['description', [(tool.description ?? tool.summary).slice(0, MAX_DESCRIPTION)]],
    ['parameterNames', schema?.names ?? parameters.map(({ name }) => name)],
    ['parameterDescriptions', schema?.descriptions ?? parameters.map(({ description }) => description.slice(0, 1_024))],
    ['values', schema?.values ?? []],
    ['tags', labels(tool.tags)],
    ['keywords', labels(tool.keywords ?? [])],
    ['phrases', phrasesOf(tool, settings.phrases())],
    ['hints', hintsOf(tool)],
  ];
}

const flagsOf = ({ enabled, annotations }: ToolMetadata): number =>
  (enabled ? FLAG.enabled : 0) |
  (annotations?.readOnlyHint === true ? FLAG.readOnly : 0) |
  (annotations?.destructiveHint === true ? FLAG.destructive : 0);

/** What annotations say, in the words people use. */
const hintsOf = ({ annotations }: ToolMetadata): string[] => [
  ...(annotations?.readOnlyHint === true ? ['readonly read only'] : []),
  ...(annotations?.destructiveHint === true ? ['destructive delete'] : []),
];

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
