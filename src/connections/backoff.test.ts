import { describe, expect, it } from 'vitest';
import { Backoff } from './backoff.ts';

function at(random = 1) {
  const clock = { now: 1_000_000 };
  return { clock, backoff: new Backoff({ now: () => clock.now, random: () => random }) };
}
const error = new Error('no');

describe('Backoff', () => {
  it('doubles from a second to five minutes', () => {
    const { backoff, clock } = at();
    const waits: number[] = [];
    for (let i = 0; i < 11; i++) {
      backoff.failed(error);
      waits.push(backoff.waitMs);
      clock.now += backoff.waitMs;
      expect(backoff.waitMs).toBe(0);
    }
    expect(waits.map((ms) => ms / 1000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    expect(backoff.error).toBe(error);
  });

  it('takes off up to half by chance', () => {
    const { backoff } = at(0);
    backoff.failed(error);
    expect(backoff.waitMs).toBe(500);
  });

  it('waits as long as the server asked, within its own longest wait', () => {
    const { backoff } = at();
    backoff.failed(error, { atLeastMs: 30_000 });
    expect(backoff.waitMs).toBe(30_000);
    backoff.failed(error, { atLeastMs: 1e9 });
    expect(backoff.waitMs).toBe(300_000);
  });

  it('waits longest when trying again gains nothing', () => {
    const { backoff } = at();
    backoff.failed(error, { final: true });
    expect(backoff.waitMs).toBe(300_000);
  });

  it('forgives the first death and leaves a server alone that keeps dying', () => {
    const { backoff, clock } = at();
    const waits = [0, 1, 2, 3].map(() => {
      backoff.opened();
      expect(backoff.error).toBeUndefined();
      backoff.died(error);
      const { waitMs } = backoff;
      clock.now += waitMs;
      return waitMs;
    });
    expect(waits).toEqual([0, 1000, 2000, 300_000]);
  });

  it('forgets after a healthy minute, before a death and before a failed connect', () => {
    for (const end of ['died', 'failed'] as const) {
      const { backoff, clock } = at();
      for (let i = 0; i < 5; i++) backoff.failed(error);
      clock.now += 300_000;
      backoff.opened();
      clock.now += 60_000;
      backoff[end](error);
      expect(backoff.waitMs).toBe(end === 'died' ? 0 : 1000);
    }
  });
});
