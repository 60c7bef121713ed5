import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/fixtures/execution/manual-clock.ts';
import { systemClock } from './timers.ts';
import { Watchdog, type Watched } from './watchdog.ts';

function world() {
  const clock = new ManualClock();
  const watchdog = new Watchdog(clock);
  const expired: [string, number][] = [];
  const watched = (name: string, due: number): Watched & { due: number } => ({
    due,
    expire: (now) => expired.push([name, now]),
  });
  return { clock, watchdog, expired, watched };
}

describe('a watchdog', () => {
  test('tells each when it is due, with one timer for all', async () => {
    const { clock, watchdog, expired, watched } = world();
    for (const [name, due] of [
      ['late', 300],
      ['early', 100],
      ['between', 200],
    ] as const)
      watchdog.add(watched(name, due));
    expect(clock.pending).toBe(1);
    await clock.advance(1_000);
    expect(expired).toEqual([
      ['early', 100],
      ['between', 200],
      ['late', 300],
    ]);
    expect(clock.pending).toBe(0);
  });

  test('does not call items that have left, and sets no timer for items that come and go', async () => {
    const { clock, watchdog, expired, watched } = world();
    for (let turn = 0; turn < 100; turn++) {
      const one = watched('gone', clock.now() + 500);
      watchdog.add(one);
      await clock.advance(1);
      watchdog.delete(one);
      expect(clock.pending).toBe(1);
    }
    await clock.advance(1_000);
    expect(expired).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('checks again later if the due time has moved', async () => {
    const { clock, watchdog, expired, watched } = world();
    const one = watched('moved', 100);
    watchdog.add(one);
    one.due = 250;
    await clock.advance(200);
    expect(expired).toEqual([]);
    await clock.advance(50);
    expect(expired).toEqual([['moved', 250]]);
  });

  test('continues to watch the others when a due item adds another', async () => {
    const { clock, watchdog, expired, watched } = world();
    watchdog.add({ due: 10, expire: () => watchdog.add(watched('added', 20)) });
    watchdog.add(watched('other', 30));
    await clock.advance(30);
    expect(expired.map(([name]) => name)).toEqual(['added', 'other']);
  });

  test('keeps the process alive only while it watches something', async () => {
    const kept: boolean[] = [];
    const clock = {
      now: () => 0,
      after: () => ({ clear: () => {}, keepAlive: (wanted: boolean) => kept.push(wanted) }),
    };
    const watchdog = new Watchdog(clock);
    const one: Watched = { due: 100, expire: () => {} };
    const two: Watched = { due: 100, expire: () => {} };
    watchdog.add(one);
    watchdog.add(two);
    watchdog.delete(one);
    expect(kept).toEqual([]);
    watchdog.delete(two);
    watchdog.delete(two);
    expect(kept).toEqual([false]);
    watchdog.add(one);
    expect(kept).toEqual([false, true]);
  });

  test('waits for times that are longer than a timer of Node can be', async () => {
    const warnings: string[] = [];
    const hear = ({ name }: Error) => warnings.push(name);
    process.on('warning', hear);
    const timer = systemClock.after(2 ** 33, () => warnings.push('fired'));
    await new Promise((resolve) => setTimeout(resolve, 30));
    timer.clear();
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });
});
