import { describe, expect, it } from 'vitest';
import { ListKeeper } from './list-keeper.ts';

/** A keeper whose readings end when told, on a clock that moves when told. */
function setUp({ ttlMs = 1000, failure }: { ttlMs?: number; failure?: string } = {}) {
  let time = 0;
  const asked: { resolve: (isWhole: boolean) => void; reject: (error: Error) => void }[] = [];
  const keeper = new ListKeeper<string>({
    read: () => new Promise((resolve, reject) => asked.push({ resolve, reject })),
    toFailure: (thrown) => (thrown as Error).message,
    isStale: (ageMs) => ageMs >= ttlMs,
    retry: { initial: 10, max: 100 },
    now: () => time,
    failure,
  });
  const end = async (result: boolean | Error): Promise<boolean | undefined> => {
    const { reading } = keeper;
    const last = asked.at(-1);
    if (result instanceof Error) last?.reject(result);
    else last?.resolve(result);
    return reading?.done;
  };
  return { keeper, asked, end, pass: (ms: number) => (time += ms) };
}

describe('a list', () => {
  it('is read once however many callers ask, and again after its TTL', async () => {
    const { keeper, asked, end, pass } = setUp();
    const first = keeper.read();
    expect(keeper.read()).toBe(first);
    await end(true);
    expect([asked.length, keeper.isDue, await first.done]).toEqual([1, false, true]);
    pass(1000);
    expect(keeper.isDue).toBe(true);
    // A clock that was put back keeps nothing for longer.
    pass(-5000);
    expect(keeper.isDue).toBe(true);
  });

  it('that cannot be read is asked for again after pauses that double, until it is invalidated', async () => {
    const { keeper, end, pass } = setUp();
    for (const pause of [10, 20, 40, 80, 100, 100]) {
      keeper.read();
      expect(await end(new Error('away'))).toBe(false);
      expect([keeper.failure, keeper.isDue]).toEqual(['away', false]);
      pass(pause - 1);
      expect(keeper.isDue).toBe(false);
      pass(1);
      expect(keeper.isDue).toBe(true);
    }
    keeper.read();
    await end(new Error('away'));
    keeper.invalidate();
    expect(keeper.isDue).toBe(true);
    keeper.read();
    await end(true);
    expect([keeper.failure, keeper.isDue]).toEqual([undefined, false]);
  });

  it('that is incomplete is no failure, and is read again soon', async () => {
    const { keeper, end, pass } = setUp();
    const { done } = keeper.read();
    await end(false);
    expect([await done, keeper.failure, keeper.isDue]).toEqual([false, undefined, false]);
    pass(10);
    expect(keeper.isDue).toBe(true);
  });

  it('that was invalidated while it was read is read again, and the first reading does not count', async () => {
    const { keeper, asked } = setUp();
    const old = keeper.read();
    keeper.invalidate();
    const fresh = keeper.read();
    asked[0]?.reject(new Error('late'));
    expect(await old.done).toBe(false);
    expect([keeper.failure, keeper.reading]).toEqual([undefined, fresh]);
    const waiting = keeper.fresh(undefined, 60_000);
    expect(waiting).toBeDefined();
    asked[1]?.resolve(true);
    expect(await fresh.done).toBe(true);
    await waiting;
  });

  it('that went out of date while it was read counts as read, and is due again at once', async () => {
    const { keeper, end } = setUp();
    const { done } = keeper.read();
    keeper.outdate();
    expect(keeper.isDue).toBe(false);
    await end(true);
    expect([await done, keeper.isDue]).toEqual([true, true]);
    expect(keeper.fresh(undefined, 60_000)).toBeUndefined();
    keeper.read();
    await end(true);
    expect(keeper.isDue).toBe(false);
  });

  it('that came from elsewhere counts as read now', async () => {
    const { keeper, asked, pass } = setUp();
    const { done } = keeper.read();
    keeper.replaced();
    asked[0]?.resolve(true);
    expect([await done, keeper.isDue]).toEqual([false, false]);
    pass(1000);
    expect(keeper.isDue).toBe(true);
  });
});

describe('callers', () => {
  it('wait for a first list for a while, and never for one that is only stale', async () => {
    const { keeper, asked, end, pass } = setUp();
    await keeper.fresh(undefined, 5);
    expect(asked).toHaveLength(1);
    const waiting = keeper.fresh(undefined, 60_000);
    await end(true);
    await waiting;
    pass(1000);
    expect(keeper.fresh(undefined, 60_000)).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it('are released when a failed attempt is not worth waiting for, while others follow', async () => {
    let goOn = () => {};
    const keeper = new ListKeeper<string>({
      read: async ({ failed }) => {
        failed('busy', true);
        await new Promise((resolve) => setImmediate(resolve));
        failed('nobody there', false);
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        return true;
      },
      toFailure: String,
      isStale: () => true,
      retry: { initial: 1, max: 1 },
      now: () => 0,
      failure: 'before',
    });
    const reading = keeper.read();
    expect(reading.isRepeat).toBe(true);
    await reading.answered;
    expect([keeper.failure, keeper.reading]).toEqual(['nobody there', reading]);
    goOn();
    expect([await reading.done, keeper.failure]).toEqual([true, undefined]);
  });
});
