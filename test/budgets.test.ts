import { describe, expect, it } from 'vitest';
// @ts-expect-error the benchmarks are plain JavaScript
import { answerTokens } from '../bench/parts/answer-tokens.mjs';
// @ts-expect-error the benchmarks are plain JavaScript
import { median, percentile } from '../bench/parts/statistics.mjs';
// @ts-expect-error the benchmarks are plain JavaScript
import { syntheticCorpus, syntheticQueries } from '../bench/parts/tool-corpus.mjs';

describe('the token budgets', () => {
  it('hold for made-up tools of real sizes: search answers and the list of servers', async () => {
    const { answers, servers } = await answerTokens(syntheticCorpus(100, 1_000), syntheticQueries(150), 1);
    expect(answers).toHaveLength(150);
    expect(median(answers)).toBeLessThan(200);
    expect(percentile(answers, 0.95)).toBeLessThan(300);
    expect(servers).toBeLessThan(2_000);
  }, 60_000);
});
