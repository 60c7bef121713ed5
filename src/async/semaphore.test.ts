import { expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

it('lets so many in at a time, in order, also after failures', async () => {
  const semaphore = new Semaphore(2);
  let now = 0;
  let most = 0;
  const order: number[] = [];
  const work = (n: number) =>
    semaphore.run(async () => {
      order.push(n);
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      if (n % 3 === 0) throw new Error(`no ${n}`);
      return n;
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map(work));
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  expect(most).toBe(2);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(2);
  await expect(work(7)).resolves.toBe(7);
});
