import { describe, expect, it } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { RequestTurns } from './request-turns.ts';

describe('RequestTurns', () => {
  const started = async (clients: readonly string[], ms = 0) => {
    const turns = new RequestTurns();
    const rounds: string[][] = [[]];
    let isOver = false;
    const count = () => {
      rounds.push([]);
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(
      clients.map(async (client) => {
        await turns.take(client);
        rounds.at(-1)?.push(client);
        for (const end = performance.now() + ms; performance.now() < end; );
      }),
    );
    isOver = true;
    return rounds;
  };

  it('starts few requests in each round of the event loop, so that others are read in between', async () => {
    const rounds = await started(Array(50).fill('greedy'));
    expect(Math.max(...rounds.map(({ length }) => length))).toBeLessThanOrEqual(LIMITS.wire.starts);
  });

  it('starts no other request in the same round after one that took long', async () => {
    const rounds = await started(Array(20).fill('greedy'), 2 * LIMITS.slice.starts);
    expect(Math.max(...rounds.map(({ length }) => length))).toBe(1);
  });

  it('lets clients take turns, however many requests one of them has', async () => {
    const order = (await started([...Array(20).fill('greedy'), 'a', 'b', 'a'])).flat();
    expect(order.slice(0, 6)).toEqual(['greedy', 'greedy', 'a', 'b', 'greedy', 'a']);
  });

  it('starts a request at once when nothing else does', async () => {
    const turns = new RequestTurns();
    expect(turns.take('a')).toBeUndefined();
    await turns.take('a');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(turns.take('a')).toBeUndefined();
  });
});
