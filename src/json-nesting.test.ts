import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJson } from './exact-json.ts';
import { MAX_NESTING, NestingError, nestsTooDeep, parseNested, parseQuoted } from './json-nesting.ts';

const nested = (levels: number, core = '') => `${'['.repeat(levels)}${core}${']'.repeat(levels)}`;
const filler = JSON.stringify('x'.repeat(70_000));

describe('parseQuoted', () => {
  const names = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":0`).join(',')}}`;
  const items = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`;

  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(parseQuoted(text)).toEqual(JSON.parse(text));
      }),
    );
    const many = [names(4_000), items(15_000, '1'), items(9_000, '{}'), JSON.stringify('{[,:'.repeat(100_000))];
    for (const text of many) expect(parseQuoted(text)).toEqual(JSON.parse(text));
    expect(() => parseQuoted('[')).toThrow(SyntaxError);
  });

  it.each([
    ['names', names(5_001)],
    ['names in an inner object', `{"a":[{"b":${names(5_001)}}]}`],
    ['values', items(20_001, '1')],
    ['empty arrays', items(10_001, '[]')],
    ['objects with few names', items(7_000, '{"a":1,"b":2}')],
    ['values after a long string', `[${JSON.stringify('x'.repeat(100_000))},${items(20_001, 'null')}]`],
    ['values, and no JSON', `${items(20_001, '1')}"`],
  ])('refuses many %s before it reads them', (_, text) => {
    expect(() => parseQuoted(text)).toThrow('too many values');
  });
});

describe('parseNested', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(parseNested(text)).toEqual(JSON.parse(text));
      }),
    );
    expect(() => parseNested('[')).toThrow(SyntaxError);
  });

  it('keeps the digits of numbers that no double holds, as deep as it reads', () => {
    const text = nested(MAX_NESTING, '12345678901234567890');
    expect(writeJson(parseNested(text))).toBe(text);
  });

  it.each([
    ['short', nested(MAX_NESTING)],
    ['long', nested(MAX_NESTING, filler)],
    ['brackets in strings', `[${JSON.stringify('["\\'.repeat(20_000))},${filler}]`],
    ['an endless string', `["${'['.repeat(100_000)}"]`],
    ['many, but beside each other', `[${'[[{}]],'.repeat(20_000)}1]`],
  ])('reads %s', (_, text) => {
    expect(parseNested(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['short', nested(MAX_NESTING + 1)],
    ['objects', `${'{"a":'.repeat(201)}1${'}'.repeat(201)}`],
    ['long and deep at the end', `[${filler},${nested(300)}]`],
    ['long and deep at once', nested(100_000)],
  ])('refuses %s', (_, text) => {
    expect(() => parseNested(text)).toThrow(NestingError);
  });

  it('refuses millions of levels without parsing them', () => {
    // Not even closed: whoever parsed it would say that it is no JSON.
    expect(() => parseNested('['.repeat(8_000_000))).toThrow(NestingError);
  });
});

describe('nestsTooDeep', () => {
  it('counts arrays and objects inside each other', () => {
    const value = { a: [1, { b: null }], c: 'x' };
    expect([2, 3].map((levels) => nestsTooDeep(value, levels))).toEqual([true, false]);
    expect([1, 'x', null, undefined].some((plain) => nestsTooDeep(plain, 0))).toBe(false);
  });

  it('takes a value that holds itself for one without bottom', () => {
    const value: Record<string, unknown> = {};
    value.self = value;
    expect(nestsTooDeep(value)).toBe(true);
  });
});
