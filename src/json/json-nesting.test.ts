import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { writeJson } from './exact-json.ts';
import { NestingError, nestsTooDeep, parseNested, parseWritten, writtenFault } from './json-nesting.ts';

const nested = (levels: number, core = '') => `${'['.repeat(levels)}${core}${']'.repeat(levels)}`;
const filler = JSON.stringify('x'.repeat(70_000));

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
    const text = nested(LIMITS.json.depth, '12345678901234567890');
    expect(writeJson(parseNested(text))).toBe(text);
  });

  it.each([
    ['short', nested(LIMITS.json.depth)],
    ['long', nested(LIMITS.json.depth, filler)],
    ['brackets in strings', `[${JSON.stringify('["\\'.repeat(20_000))},${filler}]`],
    ['an endless string', `["${'['.repeat(100_000)}"]`],
    ['many, but beside each other', `[${'[[{}]],'.repeat(20_000)}1]`],
  ])('reads %s', (_, text) => {
    expect(parseNested(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['short', nested(LIMITS.json.depth + 1)],
    ['objects', `${'{"a":'.repeat(201)}1${'}'.repeat(201)}`],
    ['long and deep at the end', `[${filler},${nested(300)}]`],
    ['long and deep at once', nested(100_000)],
  ])('refuses %s', (_, text) => {
    expect(() => parseNested(text)).toThrow(NestingError);
  });

  it('refuses millions of levels without parsing them', () => {
    // Not even closed: a parser would report invalid JSON.
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

describe('parseWritten', () => {
  const object = (names: number) => `{${Array.from({ length: names }, (_, at) => `"${at}":0`).join(',')}}`;
  const list = (values: number) => `[${'0,'.repeat(values - 2)}0]`;

  it.each([
    ['many names in one object', object(10_000)],
    ['many values', list(LIMITS.json.clientValues)],
    ['a long text that looks like JSON', JSON.stringify({ text: '{"a":[1,2],'.repeat(50_000) })],
    ['a text of quotes and backslashes', JSON.stringify({ text: '\\"'.repeat(50_000) })],
  ])('reads %s', (_, text) => {
    expect(parseWritten(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['an object of too many names', object(10_001), 'names'],
    ['one deep inside', `{"a":[{"b":"\\"{","c":${object(10_001)}}]}`, 'names'],
    ['too many values', list(LIMITS.json.clientValues + 2), 'values'],
    ['too many empty objects', `[${'{},'.repeat(30_000)}{}]`, 'values'],
    ['too many levels', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'levels'],
    ['too many names without an end', object(300_000).slice(0, -1), 'names'],
  ])('refuses %s before it is parsed', (_, text, what) => {
    expect(writtenFault(text)).toContain(what);
    const parse = vi.spyOn(JSON, 'parse');
    expect(() => parseWritten(text)).toThrow(RangeError);
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    expect(calls).toBe(0);
  });

  it('counts nothing in a text that is too short to have too much', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(writtenFault(text)).toBeUndefined();
        expect(parseWritten(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});
