import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LargeTurns } from './large-turns.ts';

const busy = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

describe('LargeTurns', () => {
  it('works on one thing at a time, in the order of asking', async () => {
    const turns = new LargeTurns();
    const seen: string[] = [];
    function* work(name: string) {
      for (let step = 0; step < 3; step++) {
        seen.push(name);
        busy(6);
        yield;
      }
      return name;
    }
    expect(await Promise.all(['a', 'b', 'c'].map((name) => turns.run(work(name))))).toEqual(['a', 'b', 'c']);
    expect(seen.join('')).toBe('aaabbbccc');
  });

  it('leaves most of the time to others, however much waits', async () => {
    const turns = new LargeTurns();
    let working = 0;
    function* work() {
      for (let step = 0; step < 5; step++) {
        const began = performance.now();
        busy(5);
        working += performance.now() - began;
        yield;
      }
    }
    const began = performance.now();
    await Promise.all(Array.from({ length: 12 }, () => turns.run(work())));
    expect(working / (performance.now() - began)).toBeLessThan(0.6);
  });

  it('goes on after work that throws', async () => {
    const turns = new LargeTurns();
    function* broken() {
      yield;
      throw new Error('broken');
    }
    await expect(turns.run(broken())).rejects.toThrow('broken');
    await turns.pass(1);
  });

  it('begins nothing while it is held', async () => {
    const turns = new LargeTurns();
    let release = () => {};
    turns.hold(
      new Promise<void>((resolve) => {
        release = resolve;
      }),
    );
    let isDone = false;
    const done = turns.pass(0).then(() => {
      isDone = true;
    });
    for (let at = 0; at < 10; at++) await turn();
    expect(isDone).toBe(false);
    release();
    await done;
  });
});
