/**
 * Joins the rankings of a request for several things: first what fits the request as a whole, then the best tool for each act that
 * nothing before it does, then what is nearest behind in any of them.
 * @module
 */
import type { ScoreParts } from './explanation.ts';
import type { Ranking } from './fusion.ts';
import { positionKey } from './live-index.ts';
import { toRelevance } from './relevance.ts';

/** The least score of a tool that does an act, and its least share of the best score for any act. */
const LEAST = { score: 0.2, share: 0.5 };
/** A tool that has this share of the best score for an act does it, too. */
const DOES = 0.8;
/** How far the best tool for an act is behind the one before it, in the joined list. */
const STEP = 0.001;

/** Joins what is accepted of the rankings of acts with that of the whole request. */
export function joinActs(
  whole: Ranking,
  acts: readonly Ranking[],
  accepts: (segment: number, document: number) => boolean,
): Ranking {
  const all = toScored(whole, accepts);
  const scored = acts.map((act) => toScored(act, accepts));
  const top = Math.max(all.best, ...scored.map(({ best }) => best));
  const placed = [all];
  for (const act of scored.sort((a, b) => b.best - a.best)) {
    const isDone = placed.some(({ first }) => (act.parts.get(first)?.total ?? 0) >= DOES * act.best);
    if (act.best >= Math.max(LEAST.score, LEAST.share * top) && !isDone) placed.push(act);
  }
  if (placed.length === 1) return whole;
  const joined = new Map<number, ScoreParts>();
  for (const [place, { parts: list, best }] of placed.entries()) {
    for (const [key, parts] of list) {
      const total = parts.total + top - best - STEP * place;
      if (total > (joined.get(key)?.total ?? 0)) joined.set(key, { ...parts, total });
    }
  }
  return {
    partsOf: (position) => joined.get(positionKey(position)) ?? whole.partsOf(position),
    candidates: [
      ...new Map(
        [whole, ...acts].flatMap(({ candidates }) => candidates.map((tool) => [positionKey(tool), tool])),
      ).values(),
    ],
    ofServer: (position) => whole.ofServer(position),
    relevanceOf(position) {
      const key = positionKey(position);
      return Math.max(
        0,
        ...placed.map(({ parts, best, second }) => toRelevance(parts.get(key)?.total ?? 0, best, second)),
      );
    },
  };
}

/** The accepted tools of a ranking, the best of them and the two highest scores. */
interface Scored {
  readonly parts: ReadonlyMap<number, ScoreParts>;
  readonly first: number;
  readonly best: number;
  readonly second: number;
}

function toScored({ candidates, partsOf }: Ranking, accepts: (segment: number, document: number) => boolean): Scored {
  const parts = new Map<number, ScoreParts>();
  let [first, best, second] = [-1, 0, 0];
  for (const position of candidates) {
    if (!accepts(position.segment, position.document)) continue;
    const own = partsOf(position);
    const key = positionKey(position);
    parts.set(key, own);
    if (own.total > best) [first, second, best] = [key, best, own.total];
    else second = Math.max(second, own.total);
  }
  return { parts, first, best, second };
}
