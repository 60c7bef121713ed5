import { expect, it } from 'vitest';
import { lastLines, shortText } from './short-text.ts';

it('makes one short, harmless line of anything', () => {
  expect(shortText('\u001b[31mred\u001b[0m\r\nnext\u0007\u009b1m line')).toBe('red next line');
  expect(shortText(`\u001b]0;title\u0007${'x'.repeat(5000)}`, 10)).toBe('x'.repeat(10));
});

it('shows the end of a log', () => {
  expect(lastLines('one\ntwo\n\u001b[1mthree\u001b[0m\nfour\n')).toBe('two | three | four');
  expect(lastLines('x'.repeat(5000))).toHaveLength(400);
  expect(lastLines('')).toBe('');
});
