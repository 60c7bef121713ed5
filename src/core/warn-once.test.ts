import { expect, it } from 'vitest';
import { memoryLog } from '../../test/fixtures/engine.ts';
import { warnOnce } from './warn-once.ts';

const fail = (error: unknown) => () => Promise.reject(error);

it('gives what the work gives, and says nothing', async () => {
  const logger = memoryLog();
  expect(await warnOnce({ logger, now: () => 0 })(async () => 7, 'no')).toBe(7);
  expect(logger.lines).toEqual([]);
});

it('gives nothing where the work fails, and says why at most once a minute', async () => {
  const logger = memoryLog();
  let now = 1_000_000;
  const attempt = warnOnce({ logger, now: () => now });
  for (const [after, complaint] of [
    [0, 'one'],
    [59_999, 'two'],
    [1, 'three'],
    [30_000, 'four'],
  ] as const) {
    now += after;
    expect(await attempt(fail(new Error('disk full')), complaint)).toBeUndefined();
  }
  expect(logger.lines.map((line) => line.split(' ', 2))).toEqual([
    ['warn', 'one'],
    ['warn', 'three'],
  ]);
  expect(logger.lines[0]).toContain('disk full');
});

it('is not silenced by a clock that is set back, nor by a thrown value that is not an error', async () => {
  const logger = memoryLog();
  let now = 1_700_000_000_000;
  const attempt = warnOnce({ logger, now: () => now });
  await attempt(fail('odd'), 'one');
  now = 0;
  await attempt(() => {
    throw new Error('at once');
  }, 'two');
  expect(logger.lines).toHaveLength(2);
  expect(logger.lines[0]).toContain('odd');
});
