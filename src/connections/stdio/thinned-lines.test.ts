import { expect, it } from 'vitest';
import { ThinnedLines } from './thinned-lines.ts';

it('leaves whole lines out when they come faster than they are dealt with, and says how much', () => {
  const heard: string[] = [];
  const lines = new ThinnedLines((chunk, isAfterGap) => {
    // As whoever keeps lines does: what has no end before a gap will never have one.
    if (isAfterGap)
      heard.push(
        heard
          .splice(0)
          .join('')
          .replace(/[^\n]*$/, ''),
      );
    heard.push(chunk.toString());
    for (const end = performance.now() + 2; performance.now() < end; );
  });
  const flood = Array.from({ length: 4000 }, (_, at) => `line ${at} of the flood\n`).join('');
  // Cut anywhere, as pipes do. On a busy machine a rest takes longer.
  for (let round = 0; round < 3 || !heard.some((text) => text.includes('left out')); round++)
    for (let at = 0; at < flood.length; at += 1000) lines.push(Buffer.from(flood.slice(at, at + 1000)));
  const text = heard.join('');
  expect(text).toMatch(/^line 0 of the flood\n/);
  expect(text).toMatch(/^\(\d+ bytes were written too fast and left out\)$/m);
  const whole = /^(?:line \d+ of the flood|\(\d+ bytes were written too fast and left out\))$/;
  // The last one may have no end yet.
  expect(
    text
      .split('\n')
      .slice(0, -1)
      .filter((line) => !whole.test(line)),
  ).toEqual([]);
});

it('goes on after a gap at a new line only, however long the line that was cut', () => {
  const heard: string[] = [];
  const lines = new ThinnedLines((chunk) => {
    heard.push(chunk.toString());
    for (const end = performance.now() + 2; performance.now() < end; );
  });
  for (let round = 0; round < 3 || !heard.some((text) => text.includes('left out')); round++) {
    // Longer than any secret, and slow enough that more of it arrives after the gap.
    for (let at = 0; at < 50; at++) {
      lines.push(Buffer.from('inside '.repeat(1000)));
      for (const end = performance.now() + 1; performance.now() < end; );
    }
    lines.push(Buffer.from('end of it\nnext line\n'));
  }
  for (const text of heard.filter((said) => said.includes('left out')))
    expect(text).toMatch(/^\(\d+ bytes were written too fast and left out\)\n(?:next line\n)?$/);
});

it('hands on everything that comes at an ordinary pace', () => {
  const heard: string[] = [];
  const lines = new ThinnedLines((chunk) => heard.push(chunk.toString()));
  for (const part of ['one\ntw', 'o\n', 'three']) lines.push(Buffer.from(part));
  expect(heard.join('')).toBe('one\ntwo\nthree');
});
