import { expect, it } from 'vitest';
import { Scratch } from './scratch.ts';

it('lends the same arrays to the next search, and all of them hold zeros', () => {
  const scratch = new Scratch();
  const [scores, places] = [scratch.take(Float64Array, 3), scratch.take(Uint32Array, 2)];
  scores.fill(7);
  places.fill(7);
  expect(scratch.take(Float64Array, 3)).not.toBe(scores);
  scratch.start();
  expect(scratch.take(Float64Array, 3)).toBe(scores);
  expect([...scores]).toEqual([0, 0, 0]);
  expect(scratch.take(Uint32Array, 4)).toHaveLength(4);
  scratch.start();
  expect(scratch.take(Uint16Array, 3)).toEqual(new Uint16Array(3));
});
