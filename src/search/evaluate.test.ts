import { describe, expect, it } from 'vitest';
import { difference, evaluate, type JudgedSearch, percentile, summarize } from './evaluate.ts';
import type { JudgedQuery } from './metrics.ts';
import { missesOf } from './misses.ts';
import { SearchEngine } from './search-engine.ts';

const hit = (name: string, relevance?: number) => ({ server: 's', name, relevance });
const needs = (query: string, ...names: string[]): JudgedQuery => ({ query, relevant: names.map((name) => hit(name)) });
/** Orders the tools as the query says: `a b c`. */
const literal: JudgedSearch = {
  rank: (query, limit) =>
    query
      .split(' ')
      .slice(0, limit)
      .map((name) => hit(name, 0.8)),
};

describe('evaluate', () => {
  it('judges the first ten of every query, in order', async () => {
    const outcomes = await evaluate(literal, [needs('a b', 'a'), needs('b a', 'a')]);
    expect(outcomes.map(({ figures }) => figures.mrr10)).toEqual([1, 0.5]);
    expect(outcomes[1]).toMatchObject({
      query: { query: 'b a' },
      ranking: [{ name: 'b' }, { name: 'a' }],
      needs: [{ rank: 2, shown: undefined }],
      tokens: undefined,
    });
  });

  it('takes rankers that answer later', async () => {
    const later: JudgedSearch = { rank: async (query, limit) => literal.rank(query, limit) };
    const [outcome] = await evaluate(later, [needs('a', 'a')]);
    expect(outcome?.figures.hit1).toBe(1);
  });

  it('times the search and nothing else', async () => {
    let clock = 0;
    const slow: JudgedSearch = {
      rank: (query, limit) => {
        clock += 5;
        return literal.rank(query, limit);
      },
      answer: () => {
        clock += 1000;
        return { tools: [], text: '' };
      },
    };
    const outcomes = await evaluate(slow, [needs('a', 'a'), needs('b', 'a')], { now: () => clock });
    expect(outcomes.map(({ ms }) => ms)).toEqual([5, 5]);
  });

  it('looks further down only for what the first ten lack', async () => {
    const asked: number[] = [];
    const ranker: JudgedSearch = {
      rank: (query, limit) => {
        asked.push(limit);
        return literal.rank(query, limit);
      },
    };
    const far = `${'x '.repeat(11)}a`;
    const [found, deep] = await evaluate(ranker, [needs('a', 'a'), needs(far, 'a')], { depth: 50 });
    expect(asked).toEqual([10, 10, 50]);
    expect([found?.needs[0]?.rank, deep?.needs[0]?.rank]).toEqual([1, 12]);
    expect(deep?.figures.recall10).toBe(0);
  });

  it('reads the answer an agent gets: its tokens, and what it shows', async () => {
    const ranker: JudgedSearch = { ...literal, answer: (query) => ({ tools: [hit('a')], text: query }) };
    const [outcome] = await evaluate(ranker, [needs('a b', 'a', 'b')], { countTokens: (text) => text.length });
    expect(outcome).toMatchObject({ tokens: 3, needs: [{ shown: true }, { shown: false }] });
  });
});

describe('summarize', () => {
  it('averages sets, with intervals, latency and tokens', async () => {
    const ranker: JudgedSearch = { ...literal, answer: (query) => ({ tools: [hit('a')], text: query }) };
    const options = { countTokens: (text: string) => text.length };
    const good = await evaluate(ranker, [needs('a', 'a')], options);
    const bad = await evaluate(ranker, [needs('b', 'c'), needs('b', 'c'), needs('b', 'c')], options);
    const summary = summarize([good, bad]);
    expect(summary).toMatchObject({ queries: 4, shown: { value: 0.5 }, tokens: { median: 1, p95: 1 } });
    expect(summary.figures.ndcg10).toEqual({ value: 0.5, low: 0.5, high: 0.5 });
    expect(summary.latency.p99Ms).toBeGreaterThanOrEqual(summary.latency.medianMs);
    expect(summarize([[...good, ...bad]]).figures.ndcg10.value).toBe(0.25);
  });

  it('says nothing of answers for a ranker that has none', async () => {
    const summary = summarize([await evaluate(literal, [needs('a', 'a')])]);
    expect([summary.shown, summary.tokens]).toEqual([undefined, undefined]);
    expect(summarize([[]])).toMatchObject({ queries: 0, latency: { medianMs: 0, p99Ms: 0 } });
  });
});

describe('difference', () => {
  it('is paired: a small lead on every query is sure, however different the queries are', async () => {
    const hard = ['x x x x x a b', 'a b', 'x x a b', 'x a b', 'x x x a b'];
    const queries = hard.map((query) => needs(query, 'a'));
    const ahead = await evaluate(literal, queries);
    const behind = await evaluate(
      { rank: (query, limit) => [hit('y'), ...(literal.rank(query, limit) as [])] },
      queries,
    );
    const { value, low, high } = difference([ahead], [behind]);
    expect(value).toBeGreaterThan(0);
    expect(low).toBeGreaterThan(0);
    expect(high - low).toBeLessThan(summarize([ahead]).figures.ndcg10.high - summarize([ahead]).figures.ndcg10.low);
    expect(difference([ahead], [ahead], 'mrr10')).toEqual({ value: 0, low: 0, high: 0 });
  });

  it('refuses to compare different queries', async () => {
    const [one, other] = [await evaluate(literal, [needs('a', 'a')]), await evaluate(literal, [needs('b', 'a')])];
    expect(() => difference([one], [other])).toThrow(TypeError);
    expect(() => difference([one], [[]])).toThrow(TypeError);
  });
});

describe('percentile', () => {
  it('is the value below which a share of the samples lie', () => {
    const samples = Array.from({ length: 100 }, (_, at) => 100 - at);
    expect([0.5, 0.95, 0.99, 1].map((share) => percentile(samples, share))).toEqual([51, 96, 100, 100]);
    expect(percentile([], 0.5)).toBe(0);
  });
});

describe('missesOf', () => {
  const status = (tool: { name: string }) =>
    tool.name === 'gone' ? undefined : tool.name === 'off' ? ('disabled' as const) : ('enabled' as const);
  const ranker: JudgedSearch = {
    ...literal,
    answer: (query) => ({
      tools: query
        .split(' ')
        .slice(0, 3)
        .map((name) => hit(name)),
      text: '',
    }),
  };

  it('says why each needed tool did not come first, the gravest first', async () => {
    const outcomes = await evaluate(
      ranker,
      [
        needs('x y a', 'a'),
        needs('x y z a', 'a'),
        needs('x', 'a'),
        needs('x', 'off'),
        needs('x', 'gone'),
        needs('a', 'a'),
        needs('b a', 'a', 'b'),
      ],
      { depth: 100 },
    );
    const misses = missesOf(outcomes, status);
    expect(misses.map(({ reason, rank }) => [reason, rank])).toEqual([
      ['not-in-catalogue', undefined],
      ['disabled', undefined],
      ['not-found', undefined],
      ['not-shown', 4],
      ['late', 3],
    ]);
    expect(misses[3]).toMatchObject({
      wanted: [{ name: 'a' }],
      instead: [{ name: 'x' }, { name: 'y' }, { name: 'z' }],
    });
  });

  it('counts a tool that came far down but that the answer shows not as missing', async () => {
    const [outcome] = await evaluate(ranker, [needs('x a', 'a')]);
    expect(missesOf(outcome ? [outcome] : [])).toMatchObject([{ reason: 'late', rank: 2 }]);
  });
});

describe('the search engine', () => {
  it('can be evaluated', async () => {
    const engine = new SearchEngine();
    const tool = (name: string, summary: string) => ({
      server: 'github',
      name,
      summary,
      description: summary,
      enabled: true,
      tags: [],
    });
    engine.setServer('github', [
      tool('create_issue', 'Create an issue'),
      tool('list_forks', 'List the forks of a repository'),
    ]);
    const ranker: JudgedSearch = {
      rank: (query, limit) => engine.search(query, { limit }).map((found) => ({ ...found, name: found.tool })),
    };
    const wanted = { query: 'make a new issue', relevant: [{ server: 'github', name: 'create_issue' }] };
    expect(summarize([await evaluate(ranker, [wanted])]).figures.hit1.value).toBe(1);
  });
});
