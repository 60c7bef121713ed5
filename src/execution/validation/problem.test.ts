import { describe, expect, test } from 'vitest';
import { nearestName } from '../../text/nearest-names.ts';
import { checkValue } from './check-value.ts';
import { excerpt, literal, shortType } from './excerpt.ts';
import { describeViolations } from './problem.ts';
import { checkSchema } from './schema-check.ts';

const problems = (schema: unknown, value: unknown) => {
  const checked = checkSchema(schema);
  if (checked.verdict === 'unusable') throw new Error(checked.reason);
  const found = checkValue(checked.root, value);
  if (found === 'exhausted') throw new Error(found);
  return describeViolations(found);
};

const messages = (schema: unknown, value: unknown) => problems(schema, value).map((problem) => problem.message);

const issue = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1 },
    state: { enum: ['open', 'closed'] },
    labels: { type: 'array', items: { type: 'string' } },
  },
  required: ['title'],
  additionalProperties: false,
};

describe('describeViolations', () => {
  test('a missing argument is named with its type and its schema', () => {
    expect(problems(issue, {})).toEqual([
      { path: 'title', message: '"title" is missing (string)', schema: { type: 'string', minLength: 1 } },
    ]);
  });

  test('an unknown property names the one that was probably meant', () => {
    const [problem] = problems(issue, { title: 'x', lables: [] });
    expect(problem).toMatchObject({ path: 'lables', suggestion: 'labels' });
    expect(problem?.message).toBe('"lables" is not a known property; did you mean "labels"?');
  });

  test('an unknown property that resembles none lists the known ones', () => {
    expect(messages(issue, { title: 'x', zzzzzz: 1 })).toEqual([
      '"zzzzzz" is not a known property; known: title, state, labels',
    ]);
    expect(messages({ additionalProperties: false }, { a: 1 })).toEqual(['"a" is not a known property; none are']);
  });

  test.each<[unknown, unknown, string]>([
    [issue, { title: 1 }, '"title" must be string, got number'],
    [
      issue,
      { title: 'x', state: 'opened' },
      `"state" must be one of 'open'|'closed', got 'opened'; did you mean 'open'?`,
    ],
    [issue, { title: 'x', labels: ['a', 1] }, '"labels[1]" must be string, got number'],
    [issue, [], 'The whole value must be object, got array'],
    [
      { properties: { 'a b': { properties: { c: { type: 'integer' } } } } },
      { 'a b': { c: 1.5 } },
      '"["a b"].c" must be integer, got a fraction',
    ],
    [{ const: 1 }, 2, 'The whole value must be 1, got 2'],
    [{ enum: [1, 2] }, { a: 1 }, 'The whole value must be one of 1|2, got object'],
    [{ minimum: 1 }, 0, 'The whole value must be >= 1, got 0'],
    [{ maximum: 1 }, 2, 'The whole value must be <= 1, got 2'],
    [{ exclusiveMinimum: 1 }, 1, 'The whole value must be > 1, got 1'],
    [{ exclusiveMaximum: 1 }, 1, 'The whole value must be < 1, got 1'],
    [{ multipleOf: 2 }, 1, 'The whole value must be a multiple of 2, got 1'],
    [{ minLength: 2 }, 'a', 'The whole value must have at least 2 characters'],
    [{ maxLength: 1 }, 'ab', 'The whole value must have at most 1 characters'],
    [{ pattern: '^a' }, 'b', 'The whole value must match /^a/'],
    [{ minItems: 1 }, [], 'The whole value must have at least 1 items, has 0'],
    [{ maxItems: 1 }, [1, 2], 'The whole value must have at most 1 items, has 2'],
    [{ uniqueItems: true }, [1, 1], 'The whole value must not contain the same item twice'],
    [{ contains: { type: 'string' } }, [1], 'The whole value must contain at least 1 item(s) of type string'],
    [{ minProperties: 1 }, {}, 'The whole value must have at least 1 properties, has 0'],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, 'The whole value must have at most 1 properties, has 2'],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, 'The whole value must not have a property called "ab"'],
    [{ not: { type: 'string' } }, 'a', 'The whole value has a form that is not allowed here'],
    [{ oneOf: [{}, {}] }, 1, 'The whole value matches more than one of the alternatives, but must match exactly one'],
    [{ properties: { a: false } }, { a: 1 }, '"a" is not allowed'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, 'The whole value must be string|null, got number'],
    [{ required: ['x'] }, {}, '"x" is missing'],
  ])('%j against %j', (schema, value, message) => {
    expect(messages(schema, value)).toEqual([message]);
  });

  test('of several alternatives the one that was meant is explained', () => {
    const schema = {
      properties: {
        shape: {
          oneOf: [
            {
              type: 'object',
              properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
              required: ['kind', 'radius'],
            },
            {
              type: 'object',
              properties: { kind: { const: 'square' }, side: { type: 'number' } },
              required: ['kind', 'side'],
            },
            { type: 'null' },
          ],
        },
      },
    };
    expect(messages(schema, { shape: { kind: 'square' } })).toEqual(['"shape.side" is missing (number)']);
  });

  test('long values are never repeated, and neither are problems', () => {
    const secret = 'x'.repeat(100);
    expect(messages({ enum: ['a'] }, secret)[0]).not.toContain('xxx');
    expect(messages({ allOf: [{ type: 'string' }, { type: 'string' }] }, 1)).toHaveLength(1);
    expect(messages({ items: { type: 'string' } }, new Array(50).fill(1))).toHaveLength(8);
  });

  test('a property declared through allOf or a reference is known', () => {
    const schema = {
      allOf: [{ $ref: '#/$defs/base' }],
      required: ['a'],
      $defs: { base: { properties: { a: { type: 'number' } } } },
    };
    expect(messages(schema, {})).toEqual(['"a" is missing (number)']);
  });
});

describe('shortType and excerpt', () => {
  test.each<[unknown, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string|null'],
    [{ enum: ['a', 1] }, `'a'|1`],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, `('a'|'b')[]`],
    [{ const: true }, 'true'],
    [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 'string|number'],
    [{ properties: {} }, 'object'],
    [{ enum: Array.from({ length: 20 }, (_, i) => i) }, '0|1|2|3|4|5|6|7|8|9|10|11|…'],
    [true, 'any'],
    [{}, 'any'],
  ])('%j is %s', (schema, text) => {
    expect(shortType(schema)).toBe(text);
  });

  test('a literal is cut when it is long', () => {
    expect(literal('a'.repeat(100)).length).toBeLessThan(45);
    expect(literal(undefined)).toBe('undefined');
  });

  test('a large schema is shown in at most two kilobytes', () => {
    const property = {
      type: 'object',
      description: 'd'.repeat(500),
      properties: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}`, { type: 'string' }])),
    };
    for (const schema of [
      property,
      { anyOf: new Array(60).fill(property) },
      { enum: Array.from({ length: 5_000 }, (_, i) => `value ${i}`) },
    ]) {
      expect(JSON.stringify(excerpt(schema)).length).toBeLessThanOrEqual(2_000);
    }
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${'k'.repeat(300)}${i}`, 1]));
    expect(excerpt(wide)).toEqual({ type: 'any' });
    expect(excerpt({ type: 'string', title: 'gone', $defs: {} })).toEqual({ type: 'string' });
  });
});

describe('nearestName', () => {
  test.each<[string, string | undefined]>([
    ['userName', 'user_name'],
    ['user_naem', 'user_name'],
    ['labls', 'labels'],
    ['quite different', undefined],
    ['x'.repeat(100), undefined],
  ])('%s is %s', (name, expected) => {
    expect(nearestName(name, ['user_name', 'labels', 'y'.repeat(100)])).toBe(expected);
  });

  test('looks at a bounded number of names', () => {
    expect(nearestName('zebra', [...Array.from({ length: 2_000 }, (_, i) => `n${i}`), 'zebra'])).toBeUndefined();
  });
});
