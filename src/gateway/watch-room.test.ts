import { expect, it } from 'vitest';
import { WatchRoom } from './watch-room.ts';

it('gives one client a thousand places, and leaves some to the next one however many have come', () => {
  const room = new WatchRoom();
  expect(room.take('a', 5_000)).toBe(1_000);
  expect(room.take('a', 1)).toBe(0);
  const got = ['b', 'c', 'd', 'e', 'f'].map((client) => room.take(client, 1_000));
  expect(got.slice(0, 2)).toEqual([1_000, 1_000]);
  expect(Math.min(...got)).toBeGreaterThan(0);
  room.leave('a', 1_000);
  expect(room.take('g', 500)).toBe(500);
});
