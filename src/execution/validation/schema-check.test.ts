import { describe, expect, test } from 'vitest';
import { checkSchema } from './schema-check.ts';

const verdict = (schema: unknown): string => {
  const checked = checkSchema(schema);
  return checked.verdict === 'unusable' ? `unusable: ${checked.reason}` : checked.verdict;
};

const nested = (depth: number): object => {
  let schema: object = { type: 'string' };
  for (let i = 0; i < depth; i++) schema = { properties: { a: schema } };
  return schema;
};

const doubling = (levels: number): object => {
  const $defs: Record<string, object> = { [`d${levels}`]: { type: 'object' } };
  for (let i = 0; i < levels; i++)
    $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
  return { $ref: '#/$defs/d0', $defs };
};

const chain = (length: number): object => {
  const $defs: Record<string, object> = { [`d${length}`]: { type: 'object' } };
  for (let i = 0; i < length; i++) $defs[`d${i}`] = { $ref: `#/$defs/d${i + 1}` };
  return { $ref: '#/$defs/d0', $defs };
};

describe('checkSchema', () => {
  test.each([
    ['an ordinary schema', { type: 'object', properties: { a: { type: 'string', pattern: '^[a-z]+$' } } }],
    ['no schema at all', {}],
    ['true', true],
    ['a tree that refers to itself below', { properties: { children: { items: { $ref: '#' } } } }],
    ['definitions', { properties: { a: { $ref: '#/$defs/x~1y%20z' } }, $defs: { 'x/y z': { type: 'string' } } }],
    ['an anchor', { properties: { a: { $ref: '#word' } }, $defs: { w: { $anchor: 'word', type: 'string' } } }],
    [
      'its own id',
      { $id: 'https://example.com/s', properties: { a: { $ref: 'https://example.com/s#/$defs/w' } }, $defs: { w: {} } },
    ],
    ['a known dialect', { $schema: 'https://json-schema.org/draft/2019-09/schema#', type: 'object' }],
    ['4,000 alternatives', { anyOf: Array.from({ length: 4_000 }, () => ({ type: 'string' })) }],
    [
      'malformed keywords',
      {
        type: 'any',
        properties: [],
        required: true,
        items: null,
        enum: [],
        anyOf: {},
        minimum: 'x',
        $ref: 5,
        pattern: 3,
      },
    ],
  ])('%s is harmless', (_name, schema) => {
    expect(verdict(schema)).toBe('harmless');
  });

  test.each([
    ['a pattern that may backtrack', { properties: { a: { pattern: '^(a+)+$' } } }],
    ['the same among property names', { patternProperties: { '(x+x+)+y': {} } }],
  ])('%s is doubtful', (_name, schema) => {
    expect(verdict(schema)).toBe('doubtful');
  });

  test.each([
    ['a reference to itself', { $ref: '#' }, 'cycle'],
    ['two of them', { allOf: [{ $ref: '#' }, { $ref: '#' }] }, 'cycle'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ['a cycle through if', { if: { $ref: '#' }, then: {} }, 'cycle'],
    ['definitions that double 22 times', doubling(22), 'more than 5000'],
    ['a chain of 4,000 references', chain(4_000), 'too long a chain'],
    ['depth 100', nested(100), 'deeper than 64'],
    ['depth 5,000', nested(5_000), 'deeper than 64'],
    [
      '6,000 sub-schemas',
      { properties: Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [i, {}])) },
      'more than 5000',
    ],
    ['a reference to the network', { $ref: 'http://127.0.0.1:1/x.json' }, 'nothing is fetched'],
    ['a reference to a file', { properties: { a: { $ref: 'file:///etc/passwd' } } }, 'nothing is fetched'],
    ['a reference to nothing', { $ref: '#/$defs/missing' }, 'has no target'],
    ['a reference to an inherited name', { $ref: '#/constructor' }, 'has no target'],
    ['an anchor that is not there', { $ref: '#missing' }, 'has no target'],
    ['a dialect of its own', { $schema: 'https://evil.example/schema', type: 'object' }, 'dialect'],
    [
      'a schema inside with an id',
      { $defs: { x: { $id: 'x.json' } }, properties: { a: { $ref: '#/$defs/x' } } },
      '$id',
    ],
  ])('%s is unusable', (_name, schema, reason) => {
    const started = performance.now();
    expect(verdict(schema)).toMatch(/^unusable/);
    expect(verdict(schema)).toContain(reason);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
