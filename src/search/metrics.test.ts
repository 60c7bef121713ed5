import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIGURES, type JudgedQuery, judge, needsOf, type RelevantTool } from './metrics.ts';

const tool = (name: string, more: Partial<RelevantTool> = {}): RelevantTool => ({ server: 's', name, ...more });
const needs = (...relevant: RelevantTool[]): JudgedQuery => ({ query: 'q', relevant });
const ranking = (...names: string[]) => names.map((name) => ({ server: 's', name }));
/** What a place is worth, 1 being the first. */
const worth = (rank: number, grade = 1): number => grade / Math.log2(rank + 1);

describe('judge', () => {
  it('gives everything to the needed tool in first place', () => {
    expect(judge(ranking('a', 'b'), needs(tool('a')))).toEqual({
      ndcg10: 1,
      mrr10: 1,
      hit1: 1,
      hit5: 1,
      recall1: 1,
      recall5: 1,
      recall10: 1,
    });
  });

  it('discounts by place: third is worth half of first', () => {
    const figures = judge(ranking('x', 'y', 'a'), needs(tool('a')));
    expect(figures).toMatchObject({ ndcg10: 0.5, mrr10: 1 / 3, hit1: 0, hit5: 1, recall1: 0, recall5: 1 });
  });

  it('counts recall over all needed tools and hits over any', () => {
    const figures = judge(ranking('a', 'x', 'x2', 'x3', 'x4', 'b'), needs(tool('a'), tool('b'), tool('c')));
    expect(figures).toMatchObject({ hit1: 1, recall1: 1 / 3, recall5: 1 / 3, recall10: 2 / 3, mrr10: 1 });
    expect(figures.ndcg10).toBeCloseTo((worth(1) + worth(6)) / (worth(1) + worth(2) + worth(3)), 12);
  });

  it('counts tools of one group as one need, met by whichever comes first', () => {
    const query = needs(tool('a', { group: 0 }), tool('b', { group: 0 }));
    expect(judge(ranking('b', 'a'), query)).toMatchObject({ ndcg10: 1, recall1: 1, recall10: 1 });
    expect(judge(ranking('x', 'b', 'a'), query).ndcg10).toBeCloseTo(worth(2), 12);
  });

  it('tells a tool of the same name on another server apart', () => {
    expect(judge([{ server: 'other', name: 'a' }], needs(tool('a'))).ndcg10).toBe(0);
  });

  it('weighs grades: the better tool first is ideal, the other way round is not', () => {
    const query = needs(tool('good', { grade: 2 }), tool('fair', { grade: 1 }));
    expect(judge(ranking('good', 'fair'), query).ndcg10).toBe(1);
    const ideal = worth(1, 2) + worth(2, 1);
    expect(judge(ranking('fair', 'good'), query).ndcg10).toBeCloseTo((worth(1, 1) + worth(2, 2)) / ideal, 12);
  });

  it('needs nothing that is graded 0', () => {
    expect(needsOf(needs(tool('a'), tool('b', { grade: 0 })))).toHaveLength(1);
    expect(judge(ranking('b'), needs(tool('a'), tool('b', { grade: 0 })))).toMatchObject({ hit1: 0, ndcg10: 0 });
  });

  it('lets one tool meet two needs, and is never above 1', () => {
    const query = needs(tool('a', { group: 1 }), tool('a', { group: 2 }), tool('b', { group: 2 }));
    expect(judge(ranking('a'), query)).toMatchObject({ ndcg10: 1, recall1: 1 });
  });

  it('looks at ten places and counts a tool that comes twice once', () => {
    const far = [...Array.from({ length: 10 }, (_, at) => `x${at}`), 'a'];
    expect(judge(ranking(...far), needs(tool('a')))).toMatchObject({ ndcg10: 0, mrr10: 0, recall10: 0 });
    expect(judge(ranking('a', 'a', 'a'), needs(tool('a'), tool('b'))).recall10).toBe(0.5);
  });

  it('is 0 without a ranking and without a need', () => {
    for (const figures of [judge([], needs(tool('a'))), judge(ranking('a'), needs())])
      expect(Object.values(figures)).toEqual(FIGURES.map(() => 0));
  });

  it('stays in [0, 1], and a needed tool moved up never loses', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
    const relevant = fc.array(
      fc.record({ server: fc.constant('s'), name: names, grade: fc.integer({ min: 0, max: 3 }), group: fc.nat(2) }),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.uniqueArray(names), relevant, (order, tools) => {
        const figures = judge(ranking(...order), needs(...tools));
        for (const name of FIGURES) expect(figures[name]).toBeGreaterThanOrEqual(0);
        for (const name of FIGURES) expect(figures[name]).toBeLessThanOrEqual(1);
        const plain = needs(...order.slice(0, 1).map((name) => tool(name)));
        const [first, ...rest] = order;
        if (first !== undefined)
          expect(judge(ranking(first, ...rest), plain).ndcg10).toBeGreaterThanOrEqual(
            judge(ranking(...rest, first), plain).ndcg10,
          );
      }),
    );
  });
});
