import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSchema } from './schema-text.ts';

describe('readSchema', () => {
  it('collects names, descriptions and values at every level', () => {
    const text = readSchema({
      type: 'object',
      description: 'not a parameter',
      properties: {
        repo: { type: 'string', description: 'Where' },
        state: { enum: ['open', 'closed', 7] },
        labels: { type: 'array', items: { properties: { colour: { const: 'red' } } } },
        target: { anyOf: [{ properties: { branch: { description: 'Which' } } }, { type: 'null' }] },
      },
    });
    expect(text.names).toEqual(['repo', 'state', 'labels', 'target', 'colour', 'branch']);
    expect(text.descriptions).toEqual(['Where', 'Which']);
    expect(text.values).toEqual(['open', 'closed', 'red']);
  });

  it('takes names of built-in properties for what they are', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"description":"a"},"constructor":{"description":"b"}}}');
    expect(readSchema(schema)).toMatchObject({ names: ['__proto__', 'constructor'], descriptions: ['a', 'b'] });
  });

  it('bounds what it takes from hostile schemas', () => {
    const wide = {
      properties: Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { description: 'x'.repeat(5_000) }]),
      ),
    };
    const text = readSchema(wide);
    expect(text.names.length).toBeLessThanOrEqual(256);
    expect(text.descriptions.join('').length).toBeLessThanOrEqual(16_384);

    const cyclic: Record<string, unknown> = {};
    cyclic.properties = { self: cyclic, list: { items: cyclic } };
    expect(readSchema(cyclic).names.length).toBeLessThanOrEqual(256);
    expect(readSchema({ enum: Array.from({ length: 10_000 }, (_, index) => `v${index}`) }).values).toHaveLength(64);
  });

  it('accepts any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (properties, anyOf) => {
        readSchema({ properties, anyOf, items: anyOf, enum: properties });
      }),
    );
  });
});
