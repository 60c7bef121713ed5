import { describe, expect, test, vi } from 'vitest';
import { argumentsFault, repairArguments, unwrapped } from './repair-arguments.ts';

describe('repairArguments', () => {
  test.each<[unknown, unknown]>([
    [undefined, {}],
    [null, {}],
    ['', {}],
    [{ a: 1 }, { a: 1 }],
    ['{"a":1}', { a: 1 }],
    [' {"a":{"b":[]}}', { a: { b: [] } }],
    ['{"a":', undefined],
    ['[1]', undefined],
    ['hello', undefined],
    [[1], undefined],
    [5, undefined],
  ])('%j becomes %j', (raw, expected) => {
    expect(repairArguments(raw)).toEqual(expected);
  });

  test('an object stays the same object', () => {
    const args = { a: 1 };
    expect(repairArguments(args)).toBe(args);
  });
});

describe('arguments written as a string', () => {
  const names = `{${Array.from({ length: 20_000 }, (_, at) => `"${at}":0`).join(',')}}`;
  const deep = `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;

  test.each([names, deep])('with too much in them are not parsed', (text) => {
    const wrapped = { input: text };
    const parse = vi.spyOn(JSON, 'parse');
    const [repaired, inner] = [repairArguments(text), unwrapped(wrapped)];
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    expect([repaired, inner, calls]).toEqual([undefined, undefined, 0]);
  });

  test('are refused with the reason', () => {
    expect(argumentsFault(names)).toContain('more than 10000 names');
    expect(argumentsFault(deep)).toContain('200 levels');
    expect(argumentsFault('hello')).toContain('must be a JSON object');
  });
});

describe('unwrapped', () => {
  test.each(['arguments', 'args', 'params', 'parameters', 'input'])('returns what %s holds', (wrapper) => {
    expect(unwrapped({ [wrapper]: { title: 'x' } })).toEqual({ title: 'x' });
    expect(unwrapped({ [wrapper]: '{"title":"x"}' })).toEqual({ title: 'x' });
  });

  test.each<[string, Record<string, unknown>]>([
    ['there is something beside it', { input: {}, other: 1 }],
    ['it holds no object', { input: 'text' }],
    ['it holds a text nested too deep', { input: `{"a":${'['.repeat(300)}${']'.repeat(300)}}` }],
    ['it is another name', { data: {} }],
    ['there is nothing', {}],
  ])('returns nothing when %s', (_name, args) => {
    expect(unwrapped(args)).toBeUndefined();
  });
});
