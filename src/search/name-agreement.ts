/**
 * Tells whether a request that mentions a tool's name asks for that tool: `package.json` may be the name of a tool, and is a
 * file in nearly every request. The request without its names decides.
 * @module
 */
import type { Named } from './exact-names.ts';
import { rank } from './keyword-ranker.ts';
import { type LiveIndex, type Position, serverOf } from './live-index.ts';
import { Likeness } from './meaning-ranker.ts';
import { meaningWords } from './meaning-text.ts';
import { parseQuery } from './query.ts';
import type { SearchSettings } from './settings.ts';
import { isStopWord } from './stop-words.ts';
import { tokenize } from './tokenizer.ts';

/** Below this score, no tool of another server explains the rest of a request. */
const EXPLAINS = 0.3;

/** A request, all names that it mentions, and the tools that other servers have for it. */
export interface Mentioning {
  readonly text: string;
  readonly mentioned: readonly Named[];
  readonly candidates: readonly Position[];
}

/**
 * Returns a test for the names of one request. A name is asked for where the rest of the request says nothing, where no
 * other server's tool explains it, or where the named tool explains it best.
 */
export function restAgrees(
  index: LiveIndex,
  { text, mentioned, candidates }: Mentioning,
  settings: SearchSettings,
): (named: Named) => boolean {
  const rest = mentioned.reduce((left, { piece }) => left.replaceAll(piece.text, ' '), text);
  if (tokenize(rest).every(({ text: word }) => isStopWord(word))) return () => true;
  const scoreOf = scoresFor(index, rest, settings);
  return ({ tools }) => {
    const servers = new Set(tools.map((tool) => serverOf(index, tool)));
    const own = Math.max(...tools.map(scoreOf));
    const others = candidates.filter((candidate) => !servers.has(serverOf(index, candidate)));
    return others.every((other) => {
      const score = scoreOf(other);
      return score < EXPLAINS || score <= own;
    });
  };
}

/** How well tools answer a text, by words and meaning. */
function scoresFor(index: LiveIndex, text: string, settings: SearchSettings): (position: Position) => number {
  const { model, meaningWeight, parts } = settings;
  const { terms, spoken } = parseQuery(text, parts);
  const words = rank(index, terms, settings);
  const request = model?.ofRequest(meaningWords(spoken));
  const likeness = request && new Likeness(index, request);
  const share = likeness === undefined ? 0 : meaningWeight;
  return ({ segment, document }) =>
    (1 - share) * words.shareOf(segment, document) + share * (likeness?.of(segment, document) ?? 0);
}
