/**
 * Ranks tools by words: BM25F over the live segments. Impacts are computed when a tool is indexed; a search only multiplies them
 * by how telling each term is and adds them up.
 * @module
 */
import { ABOUT_IMPACT, aboutTerms, FULL_IMPACT, fieldShares, frequencyIn } from './document.ts';
import { type Alternative, expand } from './expansion.ts';
import { type ExplainedWord, inThousandths } from './explanation.ts';
import { countFor, type LiveIndex, type ServerPosition, type TermEntry } from './live-index.ts';
import type { QueryTerm } from './query.ts';
import type { Ranker, Search } from './ranker.ts';
import { bestOf, ScoreBoard } from './score-board.ts';

/** How many tools words alone bring forward, for a request and for one of several acts. */
const MOST_CANDIDATES = { request: 200, act: 40 };
/** Guessing at words costs most; a query with more unknown words than this is not helped by it. */
const MAX_GUESSED_TERMS = 6;

/** Stands for servers that have no term most. */
const NO_SERVER: ServerPosition = { segment: -1, server: -1 };

/** The ranker `words`. A score is the share of the query that a tool says: 1 for a name that says it all. */
export const words: Ranker = {
  name: 'words',

  score(search) {
    const { index, server, perServer, accepts, isAct } = search;
    const most = isAct ? MOST_CANDIDATES.act : MOST_CANDIDATES.request;
    const boards = index.segments.map(
      (live, position) => new ScoreBoard(live, index.whole[position] === true, server, index.scratch),
    );
    let perfect = 0;
    for (const { term, known, alternatives } of expandAll(search)) {
      if (!term.bonus) {
        const worth = worthOf(index, term, known, NO_SERVER);
        perfect += worth;
        boards[known.most.segment]?.expect(known.most.server, worthOf(index, term, known, known.most) - worth);
      }
      for (const [segment, board] of boards.entries()) {
        for (const alternative of alternatives) {
          const ordinal = alternative.entry.ordinals[segment] ?? -1;
          if (ordinal < 0) continue;
          const factorFor = (position: ServerPosition): number =>
            (term.weight * alternative.weight * telling(index, known, alternative, position)) / FULL_IMPACT;
          const special = [known.most, alternative.entry.most].filter((most) => most.segment === segment);
          const factors = new Map(special.map((most) => [most.server, factorFor(most)]));
          board.offer(ordinal, factorFor(NO_SERVER), factors);
        }
        board.settle();
      }
    }
    return {
      of: (segment, document) => boards[segment]?.shareOf(document, perfect) ?? 0,
      candidates: () => bestOf(index, boards, { most, perServer, accepts }),
    };
  },

  explain(search, tool, about) {
    const { index, query, settings } = search;
    const shares = fieldShares(tool, settings);
    const fromServer = new Set(aboutTerms(about, settings));
    const position = index.positionOf(tool.server);
    const perfect = query.terms
      .filter(({ bonus }) => !bonus)
      .reduce((sum, term) => sum + worthOf(index, term, index.entry(term.term), position), 0);
    const explained: ExplainedWord[] = [];
    const missed: string[] = [];
    for (const { term, known, alternatives } of expandAll(search)) {
      const [best] = alternatives
        .map((alternative): ExplainedWord => {
          const { term: found, how, weight } = alternative;
          const frequency = frequencyIn(shares, found);
          const fields = [...shares].filter(([, frequencies]) => frequencies.has(found)).map(([field]) => field);
          const ofServer = fromServer.has(found) ? ABOUT_IMPACT / FULL_IMPACT : 0;
          const impact = frequency > 0 ? frequency / (settings.k1 + frequency) : ofServer;
          const points = term.weight * weight * impact * telling(index, known, alternative, position);
          return {
            word: term.term,
            found,
            how,
            fields: frequency > 0 ? fields : ['about'],
            points: points / (perfect || 1),
          };
        })
        .filter(({ points }) => points > 0)
        .sort((a, b) => b.points - a.points);
      if (best !== undefined) explained.push({ ...best, points: inThousandths(best.points) });
      else if (!term.bonus) missed.push(term.term);
    }
    return { words: explained.sort((a, b) => b.points - a.points), missed };
  },
};

/** How telling a term is that `count` of `size` tools have. */
const rarity = (size: number, count: number): number => Math.log(1 + (size - count + 0.5) / (count + 0.5));

/** What a term adds to the score of a tool whose name says the whole query. */
const worthOf = (index: LiveIndex, { weight }: QueryTerm, known: TermEntry, position: ServerPosition): number =>
  weight * rarity(index.size, countFor(known, position));

/**
 * How telling it is that a tool of a server has an alternative of a term; `known` is the entry of the term itself. A rare synonym
 * of a common word tells no more than the word. A guess tells nothing about a server that has the word.
 */
function telling(index: LiveIndex, known: TermEntry, { entry, how }: Alternative, position: ServerPosition): number {
  const count = countFor(known, position);
  if (count > 0 && (how === 'typo' || how === 'completed')) return 0;
  return rarity(index.size, count > 0 ? count : countFor(entry, position));
}

/** The terms of a query, each with the entry of the index and the terms that may stand for it. */
function expandAll({ index, query, settings }: Search): {
  readonly term: QueryTerm;
  readonly known: TermEntry;
  readonly alternatives: readonly Alternative[];
}[] {
  let guessed = 0;
  return query.terms.map((term) => {
    const known = index.entry(term.term);
    // A typo that a single server has stays a typo. Otherwise only that server would be found by it.
    const isStrange = known.count === 0 || (known.servers === 1 && index.servers > 1);
    const guess = isStrange && !term.bonus && term.weight === 1 && guessed++ < MAX_GUESSED_TERMS;
    return { term, known, alternatives: expand(index, term, settings, guess) };
  });
}
