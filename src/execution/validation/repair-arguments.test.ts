import { describe, expect, test, vi } from 'vitest';
import { argumentsFault, liftArguments, repairArguments } from './repair-arguments.ts';

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
    const [repaired, lifted] = [repairArguments(text), liftArguments(wrapped, { properties: { title: {} } })];
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    expect([repaired, calls]).toEqual([undefined, 0]);
    expect(lifted).toBe(wrapped);
  });

  test('are refused with the reason', () => {
    expect(argumentsFault(names)).toContain('more than 10000 names');
    expect(argumentsFault(deep)).toContain('200 levels');
    expect(argumentsFault('hello')).toContain('must be a JSON object');
  });
});

describe('liftArguments', () => {
  const schema = { properties: { title: { type: 'string' } } };

  test.each(['arguments', 'args', 'params', 'parameters', 'input'])('unwraps %s', (wrapper) => {
    expect(liftArguments({ [wrapper]: { title: 'x' } }, schema)).toEqual({ title: 'x' });
    expect(liftArguments({ [wrapper]: '{"title":"x"}' }, schema)).toEqual({ title: 'x' });
  });

  test.each<[string, Record<string, unknown>, object]>([
    ['the schema knows the property', { input: { a: 1 } }, { properties: { input: {} } }],
    ['the schema names no properties', { input: { a: 1 } }, { type: 'object' }],
    ['the schema allows anything', { input: { a: 1 } }, { properties: {} }],
    ['there is something beside it', { input: {}, other: 1 }, schema],
    ['it holds no object', { input: 'text' }, schema],
    ['it is another name', { data: {} }, schema],
  ])('leaves arguments alone when %s', (_name, args, shape) => {
    expect(liftArguments(args, shape as Record<string, unknown>)).toBe(args);
  });

  test('a tool without parameters takes what is inside', () => {
    expect(liftArguments({ params: {} }, { properties: {}, additionalProperties: false })).toEqual({});
  });
});
