import { expect, it } from 'vitest';
import { LITERALS } from './literals.ts';

it.each([
  ['send “the “quarterly” report” to x@y.example', ['“quarterly”', 'x@y.example']],
  ['open "a b" and ‘c’ at /tmp/x', ['"a b"', '/tmp/x']],
  ['“never closed “x” 2026-11-19', ['“x”', '2026-11-19']],
])('a quotation begins at its last opening mark, so that many of them are read once: %s', (text, values) => {
  expect(text.match(LITERALS)).toEqual(values);
});

it.each([
  ['attach report.xlsx and notes.md', ['report.xlsx', 'notes.md']],
  ['how do I update node.js or next.js', null],
  ['import the data.json.', ['data.json']],
])('a name of a file is a value, a product is none: %s', (text, values) => {
  expect(text.match(LITERALS)).toEqual(values);
});
