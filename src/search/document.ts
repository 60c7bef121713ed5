/**
 * A tool in, a document out: its terms with their impacts, and the few strings a hit shows.
 * @module
 */
import type { ToolMetadata } from '../types.ts';
import { Lexicon } from './lexicon.ts';
import type { Meaning } from './meaning-model.ts';
import { toolTexts } from './meaning-text.ts';
import { phrasesOf } from './phrase-book.ts';
import { parametersOf, type SchemaText } from './schema-text.ts';
import { FLAG } from './segment.ts';
import type { Field, FieldSettings, SearchSettings } from './settings.ts';
import type { TermTally } from './term-tally.ts';
import { nameKey } from './tokenizer.ts';

/** A tool as the index keeps it. */
export interface SearchDocument {
  readonly name: string;
  readonly summary: string;
  readonly signature: string;
  readonly tags: readonly string[];
  /** Bits of `FLAG`. */
  readonly flags: number;
  /** Whose numbers `terms` are. */
  readonly lexicon: Lexicon;
  readonly terms: Uint32Array;
  /** Of each term the saturated, field-weighted frequency, 1 to 65535; 0 for the name's key. */
  readonly impacts: Uint16Array;
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

/** Stand for a frequency: of a term that only the server's description has, and of a name's key. */
const ONLY_ABOUT = -1;
const ONLY_KEY = -2;

/** Builds the document of one tool; `about` is what is known of its server. */
export function toDocument(
  tool: ToolMetadata,
  about: string,
  settings: SearchSettings,
  lexicon: Lexicon = new Lexicon(settings),
): SearchDocument {
  const tally = lexicon.tally.start();
  const parameters = parametersOf(tool);
  for (const [field, texts] of fieldTexts(tool, parameters, settings)) {
    addField(tally, texts, settings.fields[field], lexicon);
  }
  for (const term of termsOf(lexicon, aboutTexts(about, settings)).terms) {
    if (!tally.has(term)) tally.add(term, ONLY_ABOUT);
  }
  tally.add(lexicon.numberOf(NAME_KEY + nameKey(tool.name)), ONLY_KEY);
  const { terms, frequencies } = tally.read();
  return {
    name: tool.name,
    summary: tool.summary,
    signature: tool.signature ?? '',
    tags: tool.tags,
    flags: flagsOf(tool),
    lexicon,
    terms,
    impacts: toImpacts(frequencies, settings.k1),
    meaning: settings.model?.ofTool(lexicon.meaningOf(toolTexts(tool, parameters.names))),
  };
}

function toImpacts(frequencies: Float64Array, k1: number): Uint16Array {
  const impacts = new Uint16Array(frequencies.length);
  for (let at = 0; at < impacts.length; at++) impacts[at] = toImpact(frequencies[at] as number, k1);
  return impacts;
}

function toImpact(frequency: number, k1: number): number {
  if (frequency === ONLY_KEY) return 0;
  if (frequency === ONLY_ABOUT) return ABOUT_IMPACT;
  const impact = Math.max(1, Math.round((FULL_IMPACT * frequency) / (k1 + frequency)));
  return impact === ABOUT_IMPACT ? ABOUT_IMPACT + 1 : impact;
}

/** What each field of a tool adds to a term's frequency, for those who ask why a tool was found. */
export function fieldShares(tool: ToolMetadata, settings: SearchSettings): Map<Field, FieldShares> {
  const lexicon = new Lexicon(settings);
  const shares = new Map<Field, FieldShares>();
  for (const [field, texts] of fieldTexts(tool, parametersOf(tool), settings)) {
    const tally = lexicon.tally.start();
    addField(tally, texts, settings.fields[field], lexicon);
    const { terms, frequencies } = tally.read();
    shares.set(
      field,
      new Map(Array.from(terms, (term, at) => [lexicon.terms[term] as string, frequencies[at] as number])),
    );
  }
  return shares;
}

/** The terms that a server's description gives its tools. */
export function aboutTerms(about: string, settings: SearchSettings): readonly string[] {
  const lexicon = new Lexicon(settings);
  termsOf(lexicon, aboutTexts(about, settings));
  return lexicon.terms;
}

const aboutTexts = (about: string, { parts }: SearchSettings): readonly string[] =>
  parts.about ? [about.slice(0, MAX_SHORT_TEXT)] : [];

/** The texts of a tool, field by field. */
function fieldTexts(
  tool: ToolMetadata,
  parameters: SchemaText,
  settings: SearchSettings,
): [Field, readonly string[]][] {
  return [
    ['name', [tool.name.slice(0, MAX_SHORT_TEXT)]],
    ['title', [toText(tool.title ?? tool.annotations?.title).slice(0, MAX_SHORT_TEXT)]],
    ['server', [tool.server.slice(0, MAX_SHORT_TEXT)]],
    ['description', [(tool.description ?? tool.summary).slice(0, MAX_DESCRIPTION)]],
    ['parameterNames', parameters.names],
    ['parameterDescriptions', parameters.descriptions],
    ['values', parameters.values],
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

function addField(tally: TermTally, texts: readonly string[], field: FieldSettings, lexicon: Lexicon): void {
  const { terms, words } = termsOf(lexicon, texts);
  const share = field.weight / (1 - field.b + (field.b * words) / field.length);
  if (share <= 0) return;
  for (const term of terms) tally.add(term, share);
}

/** The terms of texts, and how many words they have when an identifier counts by its parts. */
function termsOf(lexicon: Lexicon, texts: readonly string[]): { readonly terms: number[]; readonly words: number } {
  const terms: number[] = [];
  let words = 0;
  for (const text of texts) words += lexicon.read(text, terms);
  return { terms, words };
}
