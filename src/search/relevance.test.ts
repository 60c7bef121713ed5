import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../test/fixtures/search/catalogue.ts';
import { PARAPHRASES } from '../../test/fixtures/search/paraphrases.ts';
import type { ScoreParts } from './explanation.ts';
import { fits, isNoise, isUseful, reduced, toRelevance } from './relevance.ts';
import { SearchEngine } from './search-engine.ts';

const score = fc.double({ min: 0, max: 2, noNaN: true });

describe('toRelevance', () => {
  it('is in [0, 1), in hundredths, and nothing for no score', () => {
    fc.assert(
      fc.property(fc.double({ min: -2, max: 2, noNaN: true }), score, score, (own, a, b) => {
        const best = Math.max(own, a, b);
        const relevance = toRelevance(own, best, Math.min(a, b));
        expect(relevance).toBeGreaterThanOrEqual(0);
        expect(relevance).toBeLessThanOrEqual(0.99);
        expect(Math.round(relevance * 100) / 100).toBe(relevance);
        if (own <= 0) expect(relevance).toBe(0);
      }),
    );
  });

  it('falls with the score, and is highest for the first', () => {
    fc.assert(
      fc.property(score, score, score, (a, b, c) => {
        const [low, middle, high] = [a, b, c].sort((left, right) => left - right) as [number, number, number];
        const of = (each: number): number => toRelevance(each, high, middle);
        expect(of(high)).toBeGreaterThanOrEqual(of(middle));
        expect(of(middle)).toBeGreaterThanOrEqual(of(low));
      }),
    );
  });

  it('rises with what the first has and with its lead', () => {
    fc.assert(
      fc.property(score, score, fc.double({ min: 0, max: 0.5, noNaN: true }), (best, second, more) => {
        fc.pre(second <= best);
        expect(toRelevance(best + more, best + more, second)).toBeGreaterThanOrEqual(toRelevance(best, best, second));
        expect(toRelevance(best, best, second)).toBeGreaterThanOrEqual(toRelevance(best, best, best));
      }),
    );
  });
});

const partsOf = (parts: Partial<ScoreParts>): ScoreParts => ({ words: 0, meaning: 0, use: 0, total: 0, ...parts });

describe('fits', () => {
  it('wants a word or a likeness', () => {
    expect(fits(partsOf({ words: 0.01 }))).toBe(true);
    expect(fits(partsOf({ meaning: 0.5 }))).toBe(true);
    expect(fits(partsOf({ meaning: 0.1 }))).toBe(false);
  });
});

describe('isUseful', () => {
  const useful = (total: number, best: number, place: number): boolean =>
    isUseful(partsOf({ words: total, total }), best, place);

  it('keeps the best, what is about as good, and is stricter further down', () => {
    expect(useful(0.6, 0.6, 0)).toBe(true);
    expect(useful(0.35, 0.6, 2)).toBe(true);
    expect(useful(0.35, 0.6, 3)).toBe(false);
    expect(useful(0.25, 0.6, 2)).toBe(false);
    expect(useful(0.55, 0.6, 8)).toBe(true);
    expect(useful(0.05, 0.08, 1)).toBe(true);
    expect(useful(0.05, 0.08, 4)).toBe(false);
  });

  it('drops noise: weak, and like the request in neither word nor meaning', () => {
    const noise = partsOf({ meaning: 0.1, total: 0.05 });
    expect(isNoise(noise)).toBe(true);
    expect(isUseful(noise, 0.05, 0)).toBe(false);
    expect(isNoise(partsOf({ use: 0.9, total: 0.22 }))).toBe(false);
  });
});

describe('the relevance of a hit', () => {
  const engine = new SearchEngine();
  engine.index(CATALOGUE);

  it('is the same however many hits are asked for, to a hundredth', () => {
    for (const [query] of PARAPHRASES) {
      const hits = (limit: number | undefined) =>
        new Map(engine.search(query, { limit }).map(({ server, tool, relevance }) => [`${server}:${tool}`, relevance]));
      const long = hits(50);
      for (const limit of [1, 2, 10, undefined]) {
        // Only a list of a given length has noise in it, behind which nothing is called more relevant.
        for (const [name, relevance] of hits(limit))
          expect([query, name, Math.abs(relevance - (long.get(name) ?? -1)) < 0.015]).toEqual([query, name, true]);
      }
    }
  });

  it('is seldom high where the tool that was asked for is not there', () => {
    const sure = (list: typeof CATALOGUE, query: string): boolean => {
      engine.index(list);
      return (engine.search(query)[0]?.relevance ?? 0) >= 0.7;
    };
    const shareOf = (without: boolean): number =>
      PARAPHRASES.filter(([query, ...names]) =>
        sure(without ? CATALOGUE.filter(({ server, name }) => !names.includes(`${server}:${name}`)) : CATALOGUE, query),
      ).length / PARAPHRASES.length;
    const [whole, without] = [shareOf(false), shareOf(true)];
    engine.index(CATALOGUE);
    expect(whole).toBeGreaterThan(0.15);
    expect(without).toBeLessThan(0.08);
  });

  it('says of requests that nothing answers that nothing does', () => {
    for (const query of ['photosynthesis in tropical mosses', 'qwrtz plmkn', 'sourdough starter too wet']) {
      for (const { relevance } of engine.search(query)) expect(relevance).toBeLessThan(0.5);
    }
  });
});

it('a reduced score stays in order, and does not become noise by that', () => {
  const totals = Array.from({ length: 100 }, (_, at) => at / 100);
  const scores = totals.map((total) => reduced(total, 0.8));
  expect([...scores].sort((a, b) => a - b)).toEqual(scores);
  expect(new Set(scores).size).toBe(100);
  expect(reduced(0.5, 0.8)).toBe(0.4);
  for (const [at, total] of totals.entries())
    expect(isNoise(partsOf({ total: scores[at] as number }))).toBe(isNoise(partsOf({ total })));
});
