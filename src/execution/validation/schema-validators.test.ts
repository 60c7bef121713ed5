import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { OffThreadChecker } from './off-thread-checker.ts';
import { SchemaValidators } from './schema-validators.ts';
import { work } from './validation-worker.ts';

// Generous: a busy machine must not look like a hostile schema.
const validators = new SchemaValidators({ budget: 1_000 });
afterAll(() => validators.close());

const LOOKAHEAD = { properties: { a: { type: 'string', pattern: '^(?=a)(a+)+$' } } };
const NESTED = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
const EVIL = `${'a'.repeat(40)}!`;

describe('SchemaValidators', () => {
  test('a harmless schema is checked in line', () => {
    const schema = { properties: { a: { type: 'string' } } };
    expect(validators.check(schema, { a: 'x' })).toEqual({ status: 'fits' });
    expect(validators.check(schema, { a: 1 })).toMatchObject({ status: 'broken', problems: [{ path: 'a' }] });
  });

  test('a pattern that might backtrack is matched elsewhere, by an engine that does not', async () => {
    expect(await validators.check(NESTED, { a: 'aaa' })).toEqual({ status: 'fits' });
    expect(await validators.check(NESTED, { a: EVIL })).toMatchObject({ status: 'broken', problems: [{ path: 'a' }] });
  });

  test('a check that overruns its budget is flagged, and the schema is used again for the next value', async () => {
    const verdict = await validators.check(LOOKAHEAD, { a: EVIL });
    expect(verdict).toEqual({ status: 'unchecked', reason: 'checking against it took too long' });
    expect(await validators.check(LOOKAHEAD, { a: 'aaa' })).toEqual({ status: 'fits' });
    expect(await validators.check(LOOKAHEAD, { a: 'b' })).toMatchObject({
      status: 'broken',
      problems: [{ path: 'a' }],
    });
    expect(await validators.check(NESTED, { a: 'aaa' })).toEqual({ status: 'fits' });
  });

  test('a schema that overruns again and again rests for a minute, so that others get the thread', async () => {
    let now = 0;
    const impatient = new SchemaValidators({ budget: 20, now: () => now });
    const schema = { ...LOOKAHEAD };
    for (let i = 0; i < 3; i++) await impatient.check(schema, { a: EVIL });
    expect(impatient.check(schema, { a: 'b' })).toEqual({
      status: 'unchecked',
      reason: 'checking against it took too long',
    });
    now = 60_000;
    expect(impatient.check(schema, { a: 'b' })).toBeInstanceOf(Promise);
    await impatient.close();
  });

  test('an unusable schema lets everything pass and says why', () => {
    const schema = { $ref: 'http://127.0.0.1:1/' };
    expect(validators.check(schema, {})).toMatchObject({
      status: 'unchecked',
      reason: expect.stringContaining('nothing is fetched'),
    });
  });

  test('a value too large to check passes, and its schema stays in use', async () => {
    const schema = { properties: { a: { items: { allOf: Array.from({ length: 400 }, () => ({ type: 'number' })) } } } };
    expect(await validators.check(schema, { a: new Array(100_000).fill(0) })).toEqual({
      status: 'unchecked',
      reason: undefined,
    });
    expect(validators.check(schema, { a: ['x'] })).toMatchObject({ status: 'broken' });
    let deep: unknown = {};
    for (let i = 0; i < 2_000; i++) deep = { a: deep };
    const tree = { properties: { a: { $ref: '#' } } };
    expect(await validators.check(tree, deep)).toEqual({ status: 'unchecked', reason: undefined });
  });

  test('what is too much for the main thread is finished on the other one', async () => {
    const schema = { items: { allOf: Array.from({ length: 300 }, () => ({ type: 'number' })) } };
    expect(await validators.check(schema, new Array(400).fill(1))).toEqual({ status: 'fits' });
  });

  test('no schema and no value, however hostile, stalls the event loop', async () => {
    const doubled: Record<string, object> = { d22: {} };
    for (let i = 0; i < 22; i++) {
      const next = { $ref: `#/$defs/d${i + 1}` };
      doubled[`d${i}`] = { allOf: [{ properties: { x: next } }, { properties: { x: next } }] };
    }
    const hostile: object[] = [
      { $ref: '#' },
      { allOf: [{ $ref: '#' }, { $ref: '#' }] },
      { $ref: '#/$defs/d0', $defs: doubled },
      { properties: { x: { allOf: [{ $ref: '#' }, { $ref: '#' }] } }, allOf: [{ properties: { x: { $ref: '#' } } }] },
      { patternProperties: { '(x+x+)+y': { type: 'number' }, '(.*a){25}': {} } },
      { pattern: '(a|a)*$', minLength: 3, uniqueItems: true, enum: ['b', EVIL] },
      { unevaluatedProperties: false, anyOf: Array.from({ length: 2_000 }, () => ({ properties: { x: {} } })) },
    ];
    let nest: unknown = 1;
    for (let i = 0; i < 60; i++) nest = { x: nest };
    const values: unknown[] = [
      nest,
      EVIL,
      { [`${'x'.repeat(40)}!`]: 1 },
      new Array(200_000).fill({}),
      'a'.repeat(1_000_000),
      null,
    ];
    const arbitrary = fc.oneof(
      fc.constantFrom(...hostile),
      fc.object({
        key: fc.constantFrom(
          'properties',
          'items',
          'anyOf',
          '$ref',
          'type',
          'pattern',
          'enum',
          'allOf',
          'not',
          'required',
          'x',
        ),
        maxDepth: 5,
      }),
    );
    await validators.check(NESTED, { a: 'a' });
    await fc.assert(
      fc.asyncProperty(arbitrary, fc.oneof(fc.constantFrom(...values), fc.jsonValue()), async (schema, value) => {
        let started = performance.now();
        let verdict = validators.check(schema, value);
        // One more try, because other processes may have used the core.
        if (performance.now() - started >= 100) {
          started = performance.now();
          verdict = validators.check({ ...schema }, value);
        }
        expect(performance.now() - started).toBeLessThan(3_000);
        expect(['fits', 'broken', 'unchecked']).toContain((await verdict).status);
      }),
      { numRuns: 150 },
    );
  });
});

describe('OffThreadChecker', () => {
  test('what cannot be copied, waits too long in line or comes after the end is unavailable', async () => {
    const checker = new OffThreadChecker({ queue: 2, startup: 60_000 });
    const first = checker.check({}, 1);
    const second = checker.check({}, () => 1);
    expect(await checker.check({}, 3)).toBe('unavailable');
    expect(await first).toEqual([]);
    expect(await second).toBe('unavailable');
    const cutOff = checker.check({}, 4);
    await checker.close();
    expect(await cutOff).toBe('unavailable');
    expect(await checker.check({}, 5)).toBe('unavailable');
  });

  test('a thread that does not start in time leaves no check waiting', async () => {
    const checker = new OffThreadChecker({ startup: 0 });
    expect(await checker.check({}, 1)).toBe('unavailable');
    await checker.close();
  });
});

describe('the work of the other thread', () => {
  test('answers with problems under the id of the job', () => {
    expect(work({ id: 3, schema: NESTED, value: { a: EVIL } })).toMatchObject({ id: 3, problems: [{ path: 'a' }] });
    expect(work({ id: 4, schema: LOOKAHEAD, value: { a: 'aa' } })).toEqual({ id: 4, problems: [] });
    expect(work({ id: 5, schema: { $ref: '#' }, value: 1 })).toEqual({ id: 5, problems: 'exhausted' });
  });
});
