/**
 * Parses a query into the words to look for and the names it may mention. Any string is a query; work is bounded.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Asking } from './asking-model.ts';
import { type Thing, thingsOf } from './kinds.ts';
import { LITERALS } from './literals.ts';
import type { Classifier, QueryFilter } from './query-filters.ts';
import { ALL_PARTS, type Parts } from './settings.ts';
import { isStopWord } from './stop-words.ts';
import { splitStory } from './story.ts';
import { toTerm } from './term.ts';
import { fold, nameKey, tokenize } from './tokenizer.ts';
import type { Translation } from './translation.ts';

/** One word to look for. */
export interface QueryTerm {
  readonly term: string;
  /** How long the word was before stemming. */
  readonly length: number;
  readonly weight: number;
  /** A bonus term (an identifier as a whole) adds to a score but is not missed when absent. */
  readonly bonus: boolean;
  /** Other terms that the word of another language may mean, with their weights. */
  readonly others?: readonly OtherTerm[] | undefined;
}

/** Another reading of a word. */
interface OtherTerm {
  readonly term: string;
  readonly weight: number;
}

/** One reading of a piece of a query as a tool's name. */
export interface NameMention {
  /** The name exactly as written. */
  readonly spelling: string;
  readonly key: string;
  /** The server exactly as written, where the mention names one. */
  readonly server: string | undefined;
  /** Whether the name must be spelled exactly: the mention has nothing else that marks it as a name. */
  readonly strict: boolean;
  /** Whether it is written `server:tool` or `server__tool`, which is hardly ever anything but a name. */
  readonly explicit: boolean;
}

/** A piece of a query that may be a tool's name, with its readings. */
export interface NamePiece {
  /** The piece as written, quotation marks and full stops removed. */
  readonly text: string;
  readonly readings: readonly NameMention[];
}

/** What a query asks for. */
export interface ParsedQuery {
  /** The query as written, cut to `MAX_QUERY`. */
  readonly text: string;
  readonly terms: readonly QueryTerm[];
  /** The query without values, if enough is left, and what its concrete things are. */
  readonly spoken: string;
  /** Concrete things in it, and what they are. */
  readonly things: readonly Thing[];
  /** The same of sentences that tell and do not ask, and what a word of them counts. */
  readonly told: string;
  readonly toldWeight: number;
  /** How much each word of a long request asks. */
  readonly asking?: Asking | undefined;
  /** The query as one name. */
  readonly whole: NamePiece;
  /** Pieces of the query that look like names. */
  readonly mentions: readonly NamePiece[];
  /** What the words of a query in another language are in English; the terms are then those of the English words. */
  readonly translation?: Translation | undefined;
  /** Whether the query has nothing but such pieces. */
  readonly onlyMentions: boolean;
}

/** A query whose filters were taken out. */
export interface SearchQuery extends ParsedQuery {
  readonly filters: readonly QueryFilter[];
  /** Its acts, if it asks for several things. */
  readonly acts: readonly ParsedQuery[];
  /** Infers what filters by domain or category test. */
  readonly classifier?: Classifier | undefined;
}

/** Values rarely name a tool, but sometimes they do (`'users' collection`). */
const LITERAL_WEIGHT = 0.2;
const FEWEST_TERMS = 2;
/** What a concrete thing is counts less than what the request says in words. */
const KIND_WEIGHT = 0.7;
/** What a word of a sentence that only tells counts, for words and for meaning; more if each word is weighed, too. */
const TOLD_WEIGHT = { alone: 0.15, weighed: 0.4 };
/** A further meaning of a word counts as much less than its share. */
const OTHER_WEIGHT = 0.7;

/** Reads a query; `asking` is how much each of its words asks. */
export function parseQuery(query: string, parts: Parts = ALL_PARTS, asking?: Asking): ParsedQuery {
  const written = query.slice(0, LIMITS.search.query);
  const pieces = written.split(/[\s,;()[\]{}"'“”]+/u).filter((piece) => trimMarks(piece) !== '');
  const mentions = pieces.flatMap((piece) => {
    const quoted = /^`[^`]+`[.?!:]?$/.test(piece);
    const bare = trimMarks(piece);
    if (quoted || /[\p{L}\p{N}\p{M}][_:./-]+[\p{L}\p{N}\p{M}]/u.test(bare)) return [toPiece(bare, false)];
    return /\p{Ll}\p{Lu}/u.test(bare) ? [toPiece(bare, true)] : [];
  });
  return {
    text: written,
    ...readThings(fold(written), parts, asking !== undefined),
    asking,
    whole: toPiece(written.trim(), false),
    mentions: mentions.slice(0, LIMITS.search.pieces),
    onlyMentions: mentions.length === pieces.length && mentions.length <= LIMITS.search.pieces,
  };
}

/** A query in another language: its English words are looked for, and its own count where a tool has them. */
export function withTranslation(written: ParsedQuery, translation: Translation, parts: Parts = ALL_PARTS): ParsedQuery {
  const english = parseQuery(translation.text, parts);
  if (translation.words.length === 0 || english.terms.length === 0) return written;
  const others = otherTerms(translation, parts);
  const terms = english.terms.map((term) => ({ ...term, others: others.get(term.term) }));
  const known = new Set(terms.map(({ term }) => term));
  const own = written.terms.filter(({ term }) => !known.has(term)).map((term) => ({ ...term, bonus: true }));
  return {
    ...written,
    terms: [...terms, ...own].slice(0, LIMITS.search.terms),
    spoken: english.spoken,
    told: english.told,
    toldWeight: english.toldWeight,
    translation,
  };
}

/** The further meanings of each word, by the term of its first. */
function otherTerms({ words }: Translation, parts: Parts): Map<string, readonly OtherTerm[]> {
  const toTerms = (text: string): string[] =>
    tokenize(text).flatMap((word) => (isStopWord(word.text) ? [] : (toTerm(word, parts) ?? [])));
  const others = new Map<string, readonly OtherTerm[]>();
  for (const { english } of words) {
    const [first, ...rest] = english;
    const [term, ...more] = first === undefined ? [] : toTerms(first.word);
    if (term === undefined || more.length > 0) continue;
    const found = rest.flatMap(({ word, share }) =>
      toTerms(word).map((other) => ({ term: other, weight: share * OTHER_WEIGHT })),
    );
    if (found.length > 0) others.set(term, found);
  }
  return others;
}

const trimMarks = (piece: string): string => piece.replaceAll('`', '').replace(/[.?!:]+$/, '');

/** All readings of a piece: every split into server and tool, and the whole as a name. */
function toPiece(text: string, strict: boolean): NamePiece {
  const whole = { spelling: text, key: nameKey(text), server: undefined, strict, explicit: false };
  const readings: NameMention[] = [];
  if (!strict && !/\s/.test(text)) {
    for (const { index, 0: separator } of text.matchAll(/:|__|\.|\//g)) {
      if (readings.length >= LIMITS.search.splits) break;
      const server = text.slice(0, index);
      const tool = text.slice(index + separator.length);
      const explicit = separator === ':' || separator === '__';
      if (server !== '' && tool !== '') readings.push({ spelling: tool, key: nameKey(tool), server, strict, explicit });
    }
  }
  return { text, readings: [...readings, whole] };
}

/** What is read of the words of a request. */
type Story = Pick<ParsedQuery, 'terms' | 'spoken' | 'told' | 'toldWeight'>;

/** The terms of a request, and those of what its concrete things are. */
function readThings(text: string, parts: Parts, isWeighed: boolean): Story & Pick<ParsedQuery, 'things'> {
  const things = parts.kinds ? thingsOf(text) : [];
  const said = readStory(text, parts, isWeighed);
  if (things.length === 0) return { ...said, things };
  const kinds = things.map(({ words }) => words).join(' ');
  const known = new Set(said.terms.filter(({ weight }) => weight === 1).map(({ term }) => term));
  const added = collectTerms(kinds, KIND_WEIGHT, parts).filter(({ term }) => !known.has(term));
  const others = said.terms.filter(({ term }) => !added.some((kind) => kind.term === term));
  return {
    ...said,
    terms: [...added, ...others].slice(0, LIMITS.search.terms),
    spoken: `${said.spoken}, ${kinds}`,
    things,
  };
}

/** The terms of what asks, and with less weight of what tells. */
function readStory(text: string, parts: Parts, isWeighed: boolean): Story {
  const toldWeight = isWeighed ? TOLD_WEIGHT.weighed : TOLD_WEIGHT.alone;
  const { asked, told } = parts.stories ? splitStory(text) : { asked: text, told: '' };
  const asking = readTerms(asked, parts);
  if (told === '') return { ...asking, told, toldWeight };
  const telling = readTerms(told, parts);
  const known = new Set(asking.terms.map(({ term }) => term));
  const further = telling.terms.filter(({ term }) => !known.has(term));
  const weighed = further.map((term) => ({ ...term, weight: term.weight * toldWeight }));
  return {
    terms: [...asking.terms, ...weighed].slice(0, LIMITS.search.terms),
    spoken: asking.spoken,
    told: telling.spoken,
    toldWeight,
  };
}

function readTerms(text: string, parts: Parts): Pick<ParsedQuery, 'terms' | 'spoken'> {
  const bare = parts.literals ? text.replace(LITERALS, ' ') : text;
  const spoken = collectTerms(bare, 1, parts);
  if (bare === text) return { terms: spoken, spoken: text };
  if (spoken.filter(({ bonus }) => !bonus).length < FEWEST_TERMS)
    return { terms: collectTerms(text, 1, parts), spoken: text };
  const known = new Set(spoken.map(({ term }) => term));
  const literal = collectTerms((text.match(LITERALS) ?? []).join(' '), LITERAL_WEIGHT, parts);
  return {
    terms: [...spoken, ...literal.filter(({ term }) => !known.has(term))].slice(0, LIMITS.search.terms),
    spoken: bare,
  };
}

function collectTerms(text: string, weight: number, parts: Parts): QueryTerm[] {
  const words = tokenize(text);
  const meaningful = words.filter(({ text: word }) => !isStopWord(word));
  const terms = new Map<string, QueryTerm>();
  // A query of only stop words is searched too: a tool's title may be made of them.
  for (const word of meaningful.length > 0 ? meaningful : words) {
    if (terms.size >= LIMITS.search.terms) break;
    const term = toTerm(word, parts);
    if (term === undefined || terms.has(term)) continue;
    terms.set(term, { term, length: word.text.length, weight, bonus: word.kind === 'compound' });
  }
  return [...terms.values()];
}
