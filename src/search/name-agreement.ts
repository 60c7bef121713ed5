/**
 * Tells whether a request that mentions a tool's name asks for that tool. `package.json` may be one, but is mostly a file.
 * @module
 */
import type { Named } from './exact-names.ts';
import { fuse } from './fusion.ts';
import { type Position, serverOf } from './live-index.ts';
import { parseQuery } from './query.ts';
import type { Search } from './ranker.ts';
import { isStopWord } from './stop-words.ts';
import { tokenize } from './tokenizer.ts';

/** Below this score, no tool of another server explains the rest of a request. */
const EXPLAINS = 0.3;

/**
 * Returns a test for the names of one request. A name is asked for where the rest of the request says nothing, where no
 * other server's tool explains it, or where the named tool explains it best.
 */
export function restAgrees(
  { index, query, settings, perServer, accepts }: Search,
  mentioned: readonly Named[],
  candidates: readonly Position[],
): (named: Named) => boolean {
  const rest = mentioned.reduce((left, { piece }) => left.replaceAll(piece.text, ' '), query.text);
  if (tokenize(rest).every(({ text: word }) => isStopWord(word))) return () => true;
  // Neither use nor another embedder says anything about the rest.
  const { partsOf } = fuse({ index, settings, perServer, accepts, query: parseQuery(rest, settings.parts) });
  const scoreOf = (position: Position): number => partsOf(position).total;
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
