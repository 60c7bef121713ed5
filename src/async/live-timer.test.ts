import { expect, it } from 'vitest';
import { afterLive } from './live-timer.ts';

it('time in which the event loop is held up does not count: what has arrived meanwhile comes first', async () => {
  const order: string[] = [];
  const over = new Promise<void>((resolve) => {
    afterLive(50, () => {
      order.push('timer');
      resolve();
    });
  });
  setTimeout(() => order.push('answer'), 60);
  const until = performance.now() + 200;
  while (performance.now() < until);
  await over;
  expect(order).toEqual(['answer', 'timer']);
});
