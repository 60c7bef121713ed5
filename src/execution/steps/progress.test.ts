import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/fixtures/execution/manual-clock.ts';
import { aCall, DONE } from '../../../test/fixtures/execution/test-kit.ts';
import type { Progress } from '../../core/types.ts';
import type { Handler } from '../pipeline.ts';
import { progress } from './progress.ts';

describe('progress', () => {
  test('100,000 notes become at most 20 a second, the last one before the result', async () => {
    const clock = new ManualClock();
    const heard: Progress[] = [];
    const flood: Handler = async (one) => {
      for (let i = 1; i <= 100_000; i++) {
        one.onProgress?.({ progress: i });
        if (i % 1_000 === 0) await clock.advance(10);
      }
      return DONE;
    };
    await progress({ clock })(flood)(aCall({ onProgress: (note) => heard.push(note) }));
    expect(heard.length).toBeLessThanOrEqual(22);
    expect(heard.length).toBeGreaterThanOrEqual(19);
    expect(heard.at(-1)).toEqual({ progress: 100_000 });
    expect(clock.pending).toBe(0);
  });

  test('notes that go back, make no sense or come after the result are dropped', async () => {
    const heard: Progress[] = [];
    let late: ((note: Progress) => void) | undefined;
    const odd: Handler = async (one) => {
      late = one.onProgress;
      for (const note of [
        { progress: 2, total: Number.NaN, message: 'x'.repeat(9_000) },
        { progress: 1 },
        { progress: Number.NaN },
        null,
        {},
      ])
        one.onProgress?.(note as Progress);
      return DONE;
    };
    await progress()(odd)(aCall({ onProgress: (note) => heard.push(note) }));
    late?.({ progress: 9 });
    expect(heard).toEqual([{ progress: 2, message: 'x'.repeat(4_096) }]);
  });

  test('a listener that throws is told about once and does no harm', async () => {
    const reported: unknown[] = [];
    const noisy: Handler = async (one) => {
      one.onProgress?.({ progress: 1 });
      one.onProgress?.({ progress: 2 });
      return DONE;
    };
    const result = await progress({ report: (thrown) => reported.push(thrown) })(noisy)(
      aCall({
        onProgress: () => {
          throw new Error('mine');
        },
      }),
    );
    expect(result).toBe(DONE);
    expect(reported).toHaveLength(1);
  });

  test('a call without a progress listener passes unchanged', async () => {
    const one = aCall();
    await progress()(async (passed) => {
      expect(passed).toBe(one);
      return DONE;
    })(one);
  });
});
