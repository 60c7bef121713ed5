/**
 * Writes an evaluation for people, and as the document of `--json`.
 * @module
 */

import type { Estimate } from '../search/bootstrap.ts';
import type { ScoredTool, Summary } from '../search/evaluate.ts';
import type { RankedTool } from '../search/metrics.ts';
import { MISS_REASONS, type Miss, type MissReason } from '../search/misses.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Session } from './session.ts';

/** The results of an evaluation. */
export interface Evaluated {
  readonly summary: Summary;
  readonly misses: readonly Miss[];
  readonly tools: number;
  readonly servers: number;
  /** How many results were searched for a needed tool. */
  readonly depth: number;
  /** Names similar to one that is not in the catalogue. */
  near(tool: RankedTool): readonly string[];
}

const LABELS: Readonly<Record<keyof Summary['figures'], string>> = {
  ndcg10: 'nDCG@10',
  mrr10: 'MRR@10',
  hit1: 'hit@1',
  hit5: 'hit@5',
  recall1: 'recall@1',
  recall5: 'recall@5',
  recall10: 'recall@10',
};
const COUNTED: Readonly<Record<MissReason, string>> = {
  'not-in-catalogue': 'not in the catalogue',
  disabled: 'disabled',
  'not-found': 'not found',
  'not-shown': 'too far down to be shown',
  late: 'shown, but not first',
};

const points = (share: number): string => (share * 100).toFixed(1);
const ms = (time: number): string => `${time < 10 ? time.toFixed(2) : Math.round(time)} ms`;
const nameOf = ({ server, name }: RankedTool): string => oneLine(server === '' ? name : `${server}:${name}`, 200);

/** Counts of all reasons that occur, the most serious first. */
const countsOf = (misses: readonly Miss[]): [MissReason, number][] =>
  MISS_REASONS.map((reason): [MissReason, number] => [
    reason,
    misses.filter((miss) => miss.reason === reason).length,
  ]).filter(([, count]) => count > 0);

/** The evaluation as text, with at most `most` misses. */
export function evaluationText(evaluated: Evaluated, most: number, { paint, block }: Session): string {
  const { summary, misses, tools, servers } = evaluated;
  const { figures, shown, latency, tokens, queries } = summary;
  const line = (label: string, value: string, note = ''): string =>
    `  ${label.padEnd(14)}${paint('bold', value.padStart(6))}${note && `  ${paint('dim', note)}`}`;
  const estimate = (label: string, { value, low, high }: Estimate): string =>
    line(label, points(value), `${points(low)} to ${points(high)}`);
  const names = Object.keys(LABELS) as (keyof typeof LABELS)[];
  const counts = countsOf(misses).map(([reason, count]) => `${count} ${COUNTED[reason]}`);
  const listed = misses.slice(0, most);
  return [
    `${count(queries, 'query', 'queries')} over ${count(tools, 'tool')} of ${count(servers, 'server')}, in points of 100 with 95 % intervals:`,
    '',
    ...names.map((name) => estimate(LABELS[name], figures[name])),
    ...(shown ? [estimate('in the answer', shown)] : []),
    '',
    ...(tokens
      ? [`Tokens of an answer: about ${tokens.median} at the median, ${tokens.p95} at the 95th percentile.`]
      : []),
    `Time of a search: ${ms(latency.medianMs)} at the median, ${ms(latency.p99Ms)} at the 99th percentile.`,
    '',
    misses.length === 0
      ? 'Every needed tool came first.'
      : block(`Needed tools that were not first: ${counts.join(', ')}.`),
    ...listed.map((miss, at) => `\n${missText(miss, at + 1, evaluated, block)}`),
    ...(listed.length > 0 && misses.length > listed.length
      ? ['', paint('dim', `+${misses.length - listed.length} more (--misses N shows them)`)]
      : []),
  ].join('\n');
}

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;

function missText(miss: Miss, at: number, evaluated: Evaluated, block: Session['block']): string {
  const number = `${at}. `;
  const indent = ' '.repeat(number.length);
  const instead = miss.instead.map((tool) => nameOf(tool) + sureness(tool)).join(', ');
  return [
    block(`${number}${oneLine(miss.query.query, 300)}`),
    block(`needed ${miss.wanted.slice(0, 3).map(nameOf).join(' or ')}: ${whyOf(miss, evaluated)}`, indent),
    block(instead === '' ? 'no result instead' : `found instead: ${instead}`, indent),
  ].join('\n');
}

const sureness = ({ relevance }: ScoredTool): string =>
  relevance === undefined ? '' : ` (${Math.round(relevance * 100)}%)`;

/** Why a tool was missed, in words. */
function whyOf({ reason, rank, wanted }: Miss, { depth, near }: Pick<Evaluated, 'depth' | 'near'>): string {
  switch (reason) {
    case 'not-in-catalogue': {
      const names = wanted[0] ? near(wanted[0]) : [];
      const hint = names.length > 0 ? `; did you mean ${names.map((name) => oneLine(name, 200)).join(' or ')}?` : '';
      return `no server lists it${hint}`;
    }
    case 'disabled':
      return 'the rules disable it';
    case 'not-found':
      return `not among the first ${depth}`;
    case 'not-shown':
      return `number ${rank}, beyond the end of the answer`;
    case 'late':
      return `number ${rank}`;
  }
}

/** The evaluation as the document of `--json`, with at most `most` misses. */
export function evaluationDocument(evaluated: Evaluated, most: number) {
  const { summary, misses, tools, servers } = evaluated;
  const { queries, figures, shown, latency, tokens } = summary;
  return {
    queries,
    tools,
    servers,
    figures: Object.fromEntries(Object.entries(figures).map(([name, estimate]) => [name, rounded(estimate)])),
    ...(shown && { inAnswer: rounded(shown) }),
    ...(tokens && { tokens }),
    latency: { medianMs: round(latency.medianMs), p99Ms: round(latency.p99Ms) },
    missed: Object.fromEntries(countsOf(misses)),
    misses: misses.slice(0, most).map((miss) => ({
      ...(miss.query.id !== undefined && { id: miss.query.id }),
      query: miss.query.query,
      wanted: miss.wanted.map(refOf),
      reason: miss.reason,
      why: whyOf(miss, evaluated),
      ...(miss.rank !== undefined && { rank: miss.rank }),
      instead: miss.instead.map((tool) => ({ ...refOf(tool), relevance: tool.relevance })),
    })),
  };
}

const refOf = ({ server, name }: RankedTool) => ({ ...(server !== '' && { server }), tool: name });
const round = (number: number): number => Number(number.toFixed(4));
const rounded = ({ value, low, high }: Estimate): Estimate => ({
  value: round(value),
  low: round(low),
  high: round(high),
});
