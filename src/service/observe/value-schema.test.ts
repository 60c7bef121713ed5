import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkValue } from '../../execution/validation/check-value.ts';
import { checkSchema } from '../../execution/validation/schema-check.ts';
import { mergeSchemas, schemaOfValue } from './value-schema.ts';

const merged = (values: readonly unknown[]) => values.map(schemaOfValue).reduce(mergeSchemas);

describe('a schema of values', () => {
  it('has the fields and types of an object', () => {
    expect(schemaOfValue({ id: 1, title: 'x', price: 1.5, tags: ['a'], owner: null, open: true })).toEqual({
      type: 'object',
      properties: {
        id: { type: 'integer' },
        title: { type: 'string' },
        price: { type: 'number' },
        tags: { type: 'array', items: { type: 'string' } },
        owner: { type: 'null' },
        open: { type: 'boolean' },
      },
      required: ['id', 'title', 'price', 'tags', 'owner', 'open'],
    });
  });

  it('is merged over several: fields of all, required by all, both types', () => {
    expect(merged([[{ id: 1, name: 'a' }, { id: 1.5 }], [], [{ id: 2, name: null }]])).toEqual({
      type: 'array',
      items: {
        type: 'object',
        properties: { id: { type: 'number' }, name: { type: ['null', 'string'] } },
        required: ['id'],
      },
    });
  });

  it('repeats no keys that are data', () => {
    const map = { type: 'object', additionalProperties: { type: 'integer' } };
    expect(schemaOfValue({ 'ann@example.org': 1, 'bob@example.org': 2 })).toEqual(map);
    expect(merged([{ ann: 1 }, { bob: 2 }])).toEqual(map);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key${at}`, at]));
    expect(schemaOfValue(many)).toEqual(map);
  });

  it('is anything where values are too many or too deep', () => {
    expect(schemaOfValue(Array.from({ length: 1_000_000 }, () => [1]))).toEqual({ type: 'array', items: {} });
    let deep: unknown = 1;
    for (let level = 0; level < 10_000; level++) deep = [deep];
    expect(JSON.stringify(schemaOfValue(deep)).length).toBeLessThan(500);
  });

  it('accepts every value that was observed', () => {
    const near = fc.record(
      { id: fc.jsonValue({ maxDepth: 1 }), list: fc.array(fc.jsonValue({ maxDepth: 1 })), ['__proto__']: fc.integer() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), near), { minLength: 1, maxLength: 6 }), (values) => {
        const observed = values.map((value) => JSON.parse(JSON.stringify(value)));
        const checked = checkSchema(merged(observed));
        if (checked.verdict === 'unusable') throw new Error(checked.reason);
        for (const value of observed) expect(checkValue(checked.root, value)).toEqual([]);
      }),
    );
  });
});
