/**
 * Resolves the settings of the ranking. Every number has its reason beside it.
 * @module
 */
import type { AskingModel } from './asking-model.ts';
import type { MeaningModel } from './meaning-model.ts';
import type { PhraseBook } from './phrase-book.ts';
import { shippedAsking, shippedModelOrWarning, shippedPhrases } from './shipped.ts';

/** The parts of a tool that are indexed. */
export type Field =
  | 'name'
  | 'title'
  | 'server'
  | 'description'
  | 'parameterNames'
  | 'parameterDescriptions'
  | 'values'
  | 'tags'
  | 'keywords'
  | 'phrases'
  | 'hints';

/** How a field counts: its weight, how much its length matters (BM25's b) and the length that is neutral. */
export interface FieldSettings {
  readonly weight: number;
  readonly b: number;
  readonly length: number;
}

/**
 * What can be left out: words of the server's description (`about`), `createissue` for `createIssue` (`compounds`) and
 * `create`, `issue` for it (`pieces`), stems, Chinese, Japanese and Korean (`cjk`), values in a query counting little
 * (`literals`), tools that the query names coming first (`names`), completions (`prefixes`), `typos`, tools that say
 * the same stepping back (`repeats`), requests in other `languages`, sentences that only tell counting less (`stories`),
 * its words counting by how much they ask (`asking`), a search for each of several things in one query (`acts`), words for what concrete things are (`kinds`), and tools that
 * lack the act or its object counting less (`goals`).
 */
export const PARTS = [
  'about',
  'compounds',
  'pieces',
  'stems',
  'cjk',
  'literals',
  'names',
  'prefixes',
  'typos',
  'repeats',
  'languages',
  'stories',
  'asking',
  'acts',
  'kinds',
  'goals',
] as const;

/** One of them. */
export type Part = (typeof PARTS)[number];

/** Which of them are on. */
export type Parts = Readonly<Record<Part, boolean>>;

const partsWithout = (without: readonly Part[]): Parts =>
  Object.fromEntries(PARTS.map((part) => [part, !without.includes(part)])) as Parts;

/** The default: all parts are on. */
export const ALL_PARTS: Parts = partsWithout([]);

/** Choices a caller may make; everything has a measured default. */
export interface SearchEngineOptions {
  readonly weights?: Partial<Readonly<Record<Field, number>>> | undefined;
  /** BM25's saturation: how much a second mention adds. */
  readonly k1?: number | undefined;
  /** Whether `erase` also finds `delete`. */
  readonly synonyms?: boolean | undefined;
  /** Vectors of words; false to go by words alone. Default: those that come with the package. */
  readonly model?: MeaningModel | false | undefined;
  /** Further phrases for known tools; false for none. Default: those that come with the package. */
  readonly phrases?: PhraseBook | false | undefined;
  /** How much meaning counts against words, 0 to 1. */
  readonly meaningWeight?: number | undefined;
  /** Parts to do without; `npm run bench:search -- --only ablation` measures what each is worth. Default: none. */
  readonly without?: readonly Part[] | undefined;
}

/** Everything the index and the ranking need to know. */
export interface SearchSettings {
  readonly fields: Readonly<Record<Field, FieldSettings>>;
  readonly k1: number;
  readonly synonyms: boolean;
  readonly model: MeaningModel | undefined;
  readonly meaningWeight: number;
  /** Called when a tool is indexed, so an index from disk reads no phrases. */
  readonly phrases: () => PhraseBook | undefined;
  /** The caller's own, or false for none; undefined for those that come with the package. */
  readonly ownPhrases: PhraseBook | false | undefined;
  /** Weighs the words of long requests; undefined if it was trained on other vectors than `model`. */
  readonly asking: () => AskingModel | undefined;
  readonly parts: Parts;
}

/**
 * Neutral lengths are estimates and stay fixed: a tool's impacts then depend on nothing but the tool, so adding a server never rewrites or reorders the others.
 */
const FIELDS: Readonly<Record<Field, FieldSettings>> = {
  name: { weight: 4, b: 0.5, length: 2.7 },
  title: { weight: 2, b: 0.5, length: 3 },
  server: { weight: 1.5, b: 0.5, length: 2.2 },
  description: { weight: 1, b: 0.4, length: 20 },
  parameterNames: { weight: 1.5, b: 0.4, length: 6 },
  parameterDescriptions: { weight: 0.4, b: 0.3, length: 25 },
  values: { weight: 0.2, b: 0.3, length: 5 },
  tags: { weight: 3, b: 0.5, length: 2 },
  keywords: { weight: 3, b: 0.5, length: 4 },
  phrases: { weight: 2, b: 0.4, length: 15 },
  hints: { weight: 0.5, b: 0, length: 2 },
};

/** Words and meaning count the same. Nearby values rank about as well. */
const MEANING_WEIGHT = 0.5;

/** Fills in what the caller left open. */
export function resolveSettings(options: SearchEngineOptions = {}): SearchSettings {
  const fields = { ...FIELDS };
  for (const field of Object.keys(FIELDS) as Field[]) {
    const weight = options.weights?.[field];
    if (weight !== undefined) fields[field] = { ...FIELDS[field], weight };
  }
  const model = options.model === false ? undefined : (options.model ?? shippedModelOrWarning());
  const parts = options.without === undefined ? ALL_PARTS : partsWithout(options.without);
  return {
    fields,
    k1: options.k1 ?? 1.2,
    synonyms: options.synonyms ?? true,
    model,
    asking: () => (parts.asking && model !== undefined ? shippedAsking(model) : undefined),
    meaningWeight: options.meaningWeight ?? MEANING_WEIGHT,
    phrases: () => (options.phrases === false ? undefined : (options.phrases ?? shippedPhrases())),
    ownPhrases: options.phrases,
    parts,
  };
}
