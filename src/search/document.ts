/**
 * Turns a tool into a document: its terms with their impacts, and the few strings that a hit shows.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ToolMetadata } from '../core/types.ts';
import { languageOf } from './language-of.ts';
import { Lexicon, type Reading } from './lexicon.ts';
import type { Meaning } from './meaning-model.ts';
import { type MeaningPart, MOST_PARAMETERS, MOST_WORDS, splitDescription } from './meaning-text.ts';
import { phrasesOf } from './phrase-book.ts';
import { parametersOf } from './schema-text.ts';
import { FLAG } from './segment.ts';
import type { Field, FieldSettings, SearchSettings } from './settings.ts';
import { shippedTelltales, shippedWords } from './shipped.ts';
import type { TermTally } from './term-tally.ts';
import { ASCII_ONLY, nameKey } from './tokenizer.ts';
import { translate } from './translation.ts';

/** A tool as the index keeps it. */
export interface SearchDocument {
  readonly name: string;
  readonly summary: string;
  readonly signature: string;
  readonly tags: readonly string[];
  /** Bits of `FLAG`. */
  readonly flags: number;
  /** The lexicon that numbers `terms`. */
  readonly lexicon: Lexicon;
  readonly terms: readonly number[];
  /** Of each term the saturated, field-weighted frequency, 1 to 65535; 0 for the name's key. */
  readonly impacts: readonly number[];
  /** What it means; undefined without a model or when no word of it is known. */
  readonly meaning: Meaning | undefined;
}

/** The largest impact a term can have. */
export const FULL_IMPACT = 65_535;

/**
 * The two lowest bits of an impact: whether the term is where a tool says what it does, and where it says to what. Impacts are
 * steps of four, which is finer than the ranking needs.
 */
export const ROLE = { act: 1, object: 2 } as const;
const ROLES = ROLE.act | ROLE.object;
/** How many words of a description's first sentence may be the act. */
const ACT_WORDS = 6;

/**
 * The impact of a word that only its server's description has. Such postings do not count when a term's rarity is
 * judged: one talkative server would make its favourite words look common.
 */
export const ABOUT_IMPACT = 6_552;

/** Terms that start with this are keys of whole names; it sorts before every word. */
export const NAME_KEY = '\u0000';

/** What a field adds to each term's frequency. */
type FieldShares = ReadonlyMap<string, number>;

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
  const fields = readFields(tool, settings, lexicon);
  for (const [field, readings] of fields) {
    const own = addField(lexicon.fieldTally.start(), readings, settings.fields[field]);
    const counts =
      field === 'title' && settings.fields.description.weight > 0 ? notIn(fields.get('description') ?? []) : () => true;
    for (const term of own.terms()) if (counts(term)) addShare(tally, field, term, own.frequencyOf(term));
  }
  for (const term of settings.parts.about ? lexicon.termsAbout(about.slice(0, LIMITS.text.title)) : []) {
    if (tally.frequencyOf(term) === 0) tally.add(term, ONLY_ABOUT);
  }
  tally.add(lexicon.numberOf(NAME_KEY + nameKey(tool.name)), ONLY_KEY);
  const terms = tally.terms();
  const roles = rolesOf(fields, lexicon.fieldTally.start());
  return {
    name: tool.name,
    summary: tool.summary,
    signature: tool.signature ?? '',
    tags: tool.tags,
    flags: flagsOf(tool),
    lexicon,
    terms,
    impacts: terms.map((term) => toImpact(tally.frequencyOf(term), settings.k1, roles.frequencyOf(term))),
    meaning: settings.model?.ofTool(spokenParts(tool, fields)),
  };
}

function toImpact(frequency: number, k1: number, role: number): number {
  if (frequency === ONLY_KEY) return 0;
  if (frequency === ONLY_ABOUT) return ABOUT_IMPACT;
  const step = ROLES + 1;
  const impact = Math.max(step, Math.floor((FULL_IMPACT * frequency) / (k1 + frequency) / step) * step) | role;
  return impact === ABOUT_IMPACT ? ABOUT_IMPACT + step : impact;
}

/** The roles of a tool's terms. Names and titles say both; a permitted value may be the act of a tool with several. */
function rolesOf(fields: ReadonlyMap<Field, FieldReadings>, roles: TermTally): TermTally {
  const add = (readings: readonly Reading[], role: number): void => {
    for (const { terms } of readings) for (const term of terms) roles.raise(term, roles.frequencyOf(term) | role);
  };
  const [lead = []] = fields.get('description') ?? [];
  add(lead.slice(0, MOST_WORDS.lead), ROLE.object);
  add(lead.slice(0, ACT_WORDS), ROLE.act);
  for (const field of ['name', 'title'] as const) for (const readings of fields.get(field) ?? []) add(readings, ROLES);
  for (const readings of fields.get('values') ?? []) add(readings, ROLE.act);
  return roles;
}

/**
 * A word counts once, in its best field: a server that repeats itself in parameters or examples gains nothing. Phrases ship with
 * the package and are added on top.
 */
function addShare(tally: TermTally, field: Field, term: number, share: number): void {
  if (field === 'phrases') tally.add(term, share);
  else tally.raise(term, share);
}

/** Whether a term is not in a field: a title that repeats the description counts as description. */
function notIn(texts: FieldReadings): (term: number) => boolean {
  const terms = new Set(texts.flatMap((readings) => readings.flatMap((reading) => reading.terms)));
  return (term) => !terms.has(term);
}

/** The frequency that a tool's fields give a term, as `toDocument` has it. */
export function frequencyIn(shares: ReadonlyMap<Field, FieldShares>, term: string): number {
  let best = 0;
  const isRepeated = shares.get('description')?.has(term) === true;
  for (const [field, frequencies] of shares) {
    if (field === 'phrases' || (field === 'title' && isRepeated)) continue;
    best = Math.max(best, frequencies.get(term) ?? 0);
  }
  return best + (shares.get('phrases')?.get(term) ?? 0);
}

/** What each field of a tool adds to a term's frequency, for explanations. */
export function fieldShares(tool: ToolMetadata, settings: SearchSettings): Map<Field, FieldShares> {
  const lexicon = new Lexicon(settings);
  const shares = new Map<Field, FieldShares>();
  for (const [field, readings] of readFields(tool, settings, lexicon)) {
    const tally = addField(lexicon.fieldTally.start(), readings, settings.fields[field]);
    shares.set(field, new Map(tally.terms().map((term) => [lexicon.terms[term] as string, tally.frequencyOf(term)])));
  }
  return shares;
}

/** The terms that a server's description gives its tools. */
export function aboutTerms(about: string, settings: SearchSettings): readonly string[] {
  const lexicon = new Lexicon(settings);
  if (settings.parts.about) lexicon.read(about.slice(0, LIMITS.text.title));
  return lexicon.terms;
}

/** What a lexicon knows of each text of a field. */
type FieldReadings = readonly (readonly Reading[])[];

/** The texts of a tool as a lexicon reads them, field by field. */
function readFields(tool: ToolMetadata, settings: SearchSettings, lexicon: Lexicon): Map<Field, FieldReadings> {
  const fields = new Map<Field, FieldReadings>();
  for (const [field, texts] of fieldTexts(tool, settings)) {
    fields.set(
      field,
      texts.map((text) => lexicon.read(text)),
    );
  }
  return fields;
}

/** The model's ordinals of the words that have a meaning, part by part: the words of `toolWords`. */
function spokenParts(
  tool: ToolMetadata,
  fields: ReadonlyMap<Field, FieldReadings>,
): Record<MeaningPart, readonly number[]> {
  const of = (field: Field): FieldReadings => fields.get(field) ?? [];
  const [lead = [], rest = [], , english = []] = of('description');
  return {
    server: spoken(of('server'), MOST_WORDS.server),
    // A title that only the annotations have is no part of the training data.
    name: spoken(tool.title === undefined ? of('name') : [...of('name'), ...of('title')], MOST_WORDS.name),
    lead: spoken([lead], MOST_WORDS.lead),
    rest: spoken([english, rest], MOST_WORDS.rest),
    parameters: spoken(of('parameterNames').slice(0, MOST_PARAMETERS), MOST_WORDS.parameters),
  };
}

function spoken(texts: FieldReadings, most: number): number[] {
  const ordinals: number[] = [];
  for (const readings of texts) {
    for (const { spoken: words } of readings) {
      for (const ordinal of words) {
        if (ordinals.length === most) return ordinals;
        ordinals.push(ordinal);
      }
    }
  }
  return ordinals;
}

/** The texts of a tool, field by field. */
function fieldTexts(tool: ToolMetadata, settings: SearchSettings): [Field, readonly string[]][] {
  const parameters = parametersOf(tool);
  return [
    ['name', [tool.name.slice(0, LIMITS.text.title)]],
    ['server', [tool.server.slice(0, LIMITS.text.title)]],
    ['description', describe(tool, settings)],
    // Comes after the description, whose words it may repeat.
    ['title', [toText(tool.title ?? tool.annotations?.title).slice(0, LIMITS.text.title)]],
    ['parameterNames', parameters.names],
    ['parameterDescriptions', parameters.descriptions],
    ['values', parameters.values],
    ['tags', labels(tool.tags)],
    ['keywords', labels(tool.keywords ?? [])],
    ['hints', hintsOf(tool)],
    // Comes last: it is added to the best of the others.
    ['phrases', phrasesOf(tool, settings.phrases())],
  ];
}

/** Small words of English that are none in the other languages. */
const ENGLISH = /\b(?:the|of|to|for|and|from|with|by|is|are|your|this)\b/i;

/** The description in three parts; if it is in another language, its English words are a fourth. */
function describe(tool: ToolMetadata, { parts }: SearchSettings): readonly string[] {
  const text = (tool.description ?? tool.summary).slice(0, LIMITS.text.description);
  const described = splitDescription(text);
  // Most texts are ASCII and have small words of English.
  if (!parts.languages || (ASCII_ONLY.test(text) && ENGLISH.test(text))) return described;
  const start = text.slice(0, LIMITS.search.meaningText);
  const language = languageOf(start, shippedTelltales);
  return language === undefined ? described : [...described, translate(start, language, shippedWords(language)).text];
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
  values.slice(0, LIMITS.text.keywords).map((value) => value.slice(0, LIMITS.text.title));

/** A field counts by its length in words, where an identifier counts by its parts. */
function addField(tally: TermTally, texts: FieldReadings, field: FieldSettings): TermTally {
  let length = 0;
  for (const readings of texts) for (const { words } of readings) length += words;
  const share = field.weight / (1 - field.b + (field.b * length) / field.length);
  if (share <= 0) return tally;
  for (const readings of texts) {
    for (const { terms } of readings) for (const term of terms) tally.add(term, share);
  }
  return tally;
}
