/**
 * Judges a search on queries with known answers: how good, how fast and how long its answers are. Used by `anygpt mcp
 * eval` and `npm run bench:search`.
 * @module
 */
import { type BootstrapOptions, type Estimate, estimate } from './bootstrap.ts';
import {
  FIGURES,
  type Figures,
  firstOf,
  JUDGED_DEPTH,
  type JudgedQuery,
  judge,
  type Need,
  needsOf,
  placesOf,
  type RankedTool,
} from './metrics.ts';

/** A tool in a ranking, with its relevance if the search gives one. */
export interface ScoredTool extends RankedTool {
  readonly relevance?: number | undefined;
}

/** The answer to a search without a limit, as an agent reads it. */
interface Answer {
  readonly tools: readonly RankedTool[];
  readonly text: string;
}

/** A search that is judged. */
export interface JudgedSearch {
  /** The best tools, at most `limit`. */
  rank(query: string, limit: number): readonly ScoredTool[] | Promise<readonly ScoredTool[]>;
  /** The answer as an agent reads it, if the search has one. */
  answer?(query: string): Answer | Promise<Answer>;
}

interface EvaluateOptions {
  /** Tokens of a text; without it none are counted. */
  readonly countTokens?: ((text: string) => number) | undefined;
  /** How many hits are searched for a needed tool. Default 10. */
  readonly depth?: number | undefined;
  /** Milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** A need, and the place of the first tool that meets it. */
interface MetNeed extends Need {
  /** From 1; undefined if no tool was found that meets it. */
  readonly rank: number | undefined;
  /** Whether the answer shows it; undefined for a search without answers. */
  readonly shown: boolean | undefined;
}

/** How one query went. */
export interface QueryOutcome {
  readonly query: JudgedQuery;
  /** The first ten. */
  readonly ranking: readonly ScoredTool[];
  readonly figures: Figures;
  readonly needs: readonly MetNeed[];
  /** Duration of the search. */
  readonly ms: number;
  readonly tokens: number | undefined;
}

/** Runs every query, one after the other. */
export async function evaluate(
  ranker: JudgedSearch,
  queries: readonly JudgedQuery[],
  { countTokens, depth = JUDGED_DEPTH, now = () => performance.now() }: EvaluateOptions = {},
): Promise<QueryOutcome[]> {
  const outcomes: QueryOutcome[] = [];
  for (const query of queries) {
    const start = now();
    const pending = ranker.rank(query.query, JUDGED_DEPTH);
    // Awaiting a plain value would add to the measured time.
    const ranking = pending instanceof Promise ? await pending : pending;
    const ms = now() - start;
    const answer = await ranker.answer?.(query.query);
    const needs = needsOf(query);
    let places = placesOf(ranking);
    if (depth > JUDGED_DEPTH && needs.some((need) => firstOf(need, places) === undefined))
      places = new Map([...placesOf(await ranker.rank(query.query, depth)), ...places]);
    const shown = answer && placesOf(answer.tools);
    outcomes.push({
      query,
      ranking,
      figures: judge(ranking, query),
      needs: needs.map((need) => {
        const first = firstOf(need, places);
        return { ...need, rank: first && first.place + 1, shown: shown && firstOf(need, shown) !== undefined };
      }),
      ms,
      tokens: answer && countTokens?.(answer.text),
    });
  }
  return outcomes;
}

/** Figures of many queries. */
export interface Summary {
  readonly queries: number;
  readonly figures: Readonly<Record<keyof Figures, Estimate>>;
  /** Share of needed tools that the answers show; undefined for a search without answers. */
  readonly shown: Estimate | undefined;
  readonly latency: { readonly medianMs: number; readonly p99Ms: number };
  readonly tokens: { readonly median: number; readonly p95: number } | undefined;
}

/** Averages over each set's queries and then over the sets; a single set is given as the only one. */
export function summarize(sets: readonly (readonly QueryOutcome[])[], options: BootstrapOptions = {}): Summary {
  const all = sets.flat();
  const of = (value: (outcome: QueryOutcome) => number): Estimate =>
    estimate(
      sets.map((outcomes) => outcomes.map(value)),
      options,
    );
  const times = all.map(({ ms }) => ms);
  const tokens = all.flatMap((outcome) => outcome.tokens ?? []);
  const answered = all.some(({ needs }) => needs.some(({ shown }) => shown !== undefined));
  return {
    queries: all.length,
    figures: Object.fromEntries(
      FIGURES.map((name) => [name, of(({ figures }) => figures[name])]),
    ) as Summary['figures'],
    shown: answered ? of(shownShare) : undefined,
    latency: { medianMs: percentile(times, 0.5), p99Ms: percentile(times, 0.99) },
    tokens: tokens.length > 0 ? { median: percentile(tokens, 0.5), p95: percentile(tokens, 0.95) } : undefined,
  };
}

const shownShare = ({ needs }: QueryOutcome): number =>
  needs.length === 0 ? 0 : needs.filter(({ shown }) => shown === true).length / needs.length;

/** How much better the first search is than the second: a paired interval over the queries. */
export function difference(
  first: readonly (readonly QueryOutcome[])[],
  second: readonly (readonly QueryOutcome[])[],
  figure: keyof Figures = 'ndcg10',
  options: BootstrapOptions = {},
): Estimate {
  const differences = first.map((outcomes, set) =>
    outcomes.map(({ query, figures }, at) => {
      const other = second[set]?.[at];
      if (other?.query.query !== query.query)
        throw new TypeError('Only the same queries in the same order can be compared');
      return figures[figure] - other.figures[figure];
    }),
  );
  return estimate(differences, options);
}

/** The value below which `share` of the samples lie; 0 when there are none. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
