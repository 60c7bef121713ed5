import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { InFlight } from './in-flight.ts';

const MIB = 1024 * 1024;
const oldGeneration = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Adds many large items of which fifty are under way at a time. Returns by how much the old generation grew at most. */
function churned(all: { add(item: object): unknown; delete(item: object): unknown }): number {
  const now: object[] = [];
  let before = 0;
  let most = 0;
  for (let count = 0; count < 20_000; count++) {
    const item = { parts: Array.from({ length: 200 }, (_, at) => ({ at })) };
    all.delete(now[count % 50] ?? item);
    now[count % 50] = item;
    all.add(item);
    // What has been there for some time is in the old generation.
    if (count === 2_000) collect();
    if (count === 4_000) before = oldGeneration();
    if (count > 4_000 && count % 50 === 0) most = Math.max(most, oldGeneration() - before);
  }
  return most;
}

describe('InFlight', () => {
  it('has what was added and not deleted, once', () => {
    const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
    const all = new InFlight<{ name: string }>();
    for (const item of [a, b, c, a]) all.add(item);
    expect(all.delete(b)).toBe(true);
    expect(all.delete(b)).toBe(false);
    expect([...all]).toEqual([a, c]);
    expect(all.size).toBe(2);
    expect(all.find(({ name }) => name === 'c')).toBe(c);
    expect(all.find(({ name }) => name === 'b')).toBeUndefined();
  });

  it('may be changed while it is read', () => {
    const all = new InFlight<object>();
    for (let count = 0; count < 3; count++) all.add({});
    for (const item of all) all.delete(item);
    expect(all.size).toBe(0);
  });

  it('lets go of what is over without a full collection, which a Set does not', () => {
    expect(churned(new InFlight<object>())).toBeLessThan(3 * MIB);
    expect(churned(new Set<object>())).toBeGreaterThan(6 * MIB);
  });
});
