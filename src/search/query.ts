/**
 * A query string in, the words to look for and the names it may mention out. Any string is a query; work is bounded.
 * @module
 */
import { ALL_PARTS, type Parts } from './settings.ts';
import { isStopWord } from './stop-words.ts';
import { toTerm } from './term.ts';
import { fold, nameKey, tokenize } from './tokenizer.ts';

/** One word to look for. */
export interface QueryTerm {
  readonly term: string;
  /** How long the word was before stemming. */
  readonly length: number;
  readonly weight: number;
  /** A bonus term (an identifier as a whole) adds to a score but is not missed when absent. */
  readonly bonus: boolean;
}

/** A spelling that counts as a tool's name if a tool has it. */
export interface NameMention {
  /** The mention as written, case and accents folded. */
  readonly spelling: string;
  readonly key: string;
  /** Key of the server, where the mention names one. */
  readonly server: string | undefined;
  /** Whether the letters must match in case: the mention has nothing else that marks it as a name. */
  readonly strict: boolean;
}

/** What a query asks for. */
export interface ParsedQuery {
  readonly terms: readonly QueryTerm[];
  /** The query without values, if enough is left. */
  readonly spoken: string;
  /** The query as one name. */
  readonly whole: readonly NameMention[];
  /** Pieces of the query that look like names. */
  readonly mentions: readonly (readonly NameMention[])[];
  /** All pieces of a short query, for queries that are nothing but names. */
  readonly pieces: readonly (readonly NameMention[])[];
}

/** Longer queries are cut. */
export const MAX_QUERY = 2_000;
const MAX_TERMS = 64;
const MAX_PIECES = 32;
const MAX_SPLITS = 8;
/** Values rarely name a tool, but sometimes they do (`'users' collection`). */
const LITERAL_WEIGHT = 0.2;
const FEWEST_TERMS = 2;

/** Values rather than wishes: addresses, paths, quotations, placeholders, long numbers. Every pattern is linear. */
const LITERALS =
  /\bhttps?:\/\/\S+|(?<!\S)\S+@\S+|(?<!\S)(?:~|\.{1,2})?\/\S+|\b[A-Za-z]:\\\S+|"[^"\n]*"|“[^”\n]*”|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])|<[^<>\n]*>|\b\d[\d.,:/-]{3,}/gu;

/** Reads a query. */
export function parseQuery(query: string, parts: Parts = ALL_PARTS): ParsedQuery {
  const text = fold(query.slice(0, MAX_QUERY));
  const pieces = text.split(/[\s,;()[\]{}"'“”]+/u).filter((piece) => piece !== '');
  return {
    ...readTerms(text, parts),
    whole: toMentions(text.trim(), false),
    mentions: pieces
      .flatMap((piece) => {
        const quoted = /^`[^`]+`[.?!:]?$/.test(piece);
        const bare = trimMarks(piece);
        if (quoted || /[\p{L}\p{N}][_:./-]+[\p{L}\p{N}]/u.test(bare)) return [toMentions(bare, false)];
        return /\p{Ll}\p{Lu}/u.test(bare) ? [toMentions(bare, true)] : [];
      })
      .slice(0, MAX_PIECES),
    pieces: pieces.length <= MAX_PIECES ? pieces.map((piece) => toMentions(trimMarks(piece), false)) : [],
  };
}

const trimMarks = (piece: string): string => piece.replaceAll('`', '').replace(/[.?!:]+$/, '');

/** All readings of a mention: the whole as a name, then every split into server and tool. */
function toMentions(text: string, strict: boolean): NameMention[] {
  const spelling = text.toLowerCase();
  const mentions: NameMention[] = [
    { spelling: strict ? text : spelling, key: nameKey(text), server: undefined, strict },
  ];
  if (strict || /\s/.test(text)) return mentions;
  for (const { index, 0: separator } of text.matchAll(/:|__|\.|\//g)) {
    if (mentions.length > MAX_SPLITS) break;
    const server = spelling.slice(0, index);
    const tool = spelling.slice(index + separator.length);
    if (server !== '' && tool !== '') {
      mentions.push({ spelling: tool, key: nameKey(tool), server: nameKey(server), strict });
    }
  }
  return mentions;
}

function readTerms(text: string, parts: Parts): Pick<ParsedQuery, 'terms' | 'spoken'> {
  const bare = parts.literals ? text.replace(LITERALS, ' ') : text;
  const spoken = collectTerms(bare, 1, parts);
  if (bare === text) return { terms: spoken, spoken: text };
  if (spoken.filter(({ bonus }) => !bonus).length < FEWEST_TERMS)
    return { terms: collectTerms(text, 1, parts), spoken: text };
  const known = new Set(spoken.map(({ term }) => term));
  const literal = collectTerms((text.match(LITERALS) ?? []).join(' '), LITERAL_WEIGHT, parts);
  return { terms: [...spoken, ...literal.filter(({ term }) => !known.has(term))].slice(0, MAX_TERMS), spoken: bare };
}

function collectTerms(text: string, weight: number, parts: Parts): QueryTerm[] {
  const words = tokenize(text);
  const meaningful = words.filter(({ text: word }) => !isStopWord(word));
  const terms = new Map<string, QueryTerm>();
  // A query of nothing but stop words still deserves an attempt: a tool's title may be made of them.
  for (const word of meaningful.length > 0 ? meaningful : words) {
    if (terms.size >= MAX_TERMS) break;
    const term = toTerm(word, parts);
    if (term === undefined || terms.has(term)) continue;
    terms.set(term, { term, length: word.text.length, weight, bonus: word.kind === 'compound' });
  }
  return [...terms.values()];
}
