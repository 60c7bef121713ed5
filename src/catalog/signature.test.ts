import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../core/types.ts';
import { describeTool } from './description.ts';
import { examplesFor, generateExample } from './example.ts';
import { describeParameters, signature } from './signature.ts';

const ISSUE: JsonSchema = {
  type: 'object',
  properties: {
    labels: { type: 'array', items: { type: 'string' } },
    body: { type: 'string', description: 'Markdown\u202e text' },
    repo: { type: 'string' },
    state: { enum: ['open', 'closed'], default: 'open' },
  },
  required: ['repo'],
};

describe('signature', () => {
  it('shows required parameters first and leaves the type of strings out', () => {
    expect(signature(ISSUE)).toBe("repo, labels?: string[], body?, state?: 'open'|'closed'");
    expect(signature(undefined)).toBe('');
    expect(signature({ type: 'object' })).toBe('');
  });

  it('says how many parameters did not fit', () => {
    const properties = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`parameter_${i}`, {}]));
    expect(signature({ properties })).toMatch(/parameter_0\?, .*, \+\d+ more$/);
  });

  it('is bounded and never throws, whatever stands for a schema', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (properties, required) => {
        const schema = { type: 'object', properties, required } as JsonSchema;
        expect(signature(schema).length).toBeLessThan(220);
        expect(describeParameters(schema)).toHaveLength(Object.keys(properties).length);
        expect(() =>
          describeTool({ server: 's', name: 't', summary: '', enabled: true, tags: [], inputSchema: schema }),
        ).not.toThrow();
      }),
    );
    for (const odd of [[], 'x', null, { a: null }]) expect(() => signature({ properties: odd } as never)).not.toThrow();
  });
});

describe('describeParameters', () => {
  it('gives type, description and whether it is required', () => {
    expect(describeParameters(ISSUE)).toEqual([
      { name: 'repo', type: 'string', description: '', required: true },
      { name: 'labels', type: 'string[]', description: '', required: false },
      { name: 'body', type: 'string', description: 'Markdown text', required: false },
      { name: 'state', type: "'open'|'closed' = \"open\"", description: '', required: false },
    ]);
  });

  it('stops at a readable number of parameters', () => {
    const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`p${i}`, { type: 'string' }]));
    expect(describeParameters({ properties, required: ['p4999'] })).toHaveLength(256);
    expect(describeParameters({ properties, required: ['p4999'] })[0]?.name).toBe('p4999');
  });
});

describe('examples', () => {
  const nested: JsonSchema = {
    properties: {
      filter: {
        type: 'object',
        properties: {
          kind: { enum: ['a', 'b'] },
          count: { type: 'integer', minimum: 3 },
          tags: { type: 'array', items: { type: 'string' } },
          on: { type: 'boolean' },
          none: { type: 'null' },
          fixed: { const: 7 },
          sample: { type: 'string', examples: ['like this'] },
          either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
          free: {},
        },
        required: ['kind', 'count', 'tags', 'on', 'none', 'fixed', 'sample', 'either', 'free', 'unknown'],
      },
    },
    required: ['filter'],
  };

  it('are made up only where a required parameter is an object, and are marked', () => {
    const tool = { server: 's', name: 't', summary: '', enabled: true, tags: [] };
    expect(describeTool({ ...tool, inputSchema: nested }).examples).toEqual([
      {
        generated: true,
        parameters: {
          filter: {
            kind: 'a',
            count: 3,
            tags: ['string'],
            on: true,
            none: null,
            fixed: 7,
            sample: 'like this',
            either: 1,
            free: 'string',
          },
        },
      },
    ]);
    expect(describeTool({ ...tool, inputSchema: ISSUE }).examples).toEqual([]);
  });

  it('are generated for a simple tool, too, on request', () => {
    const tool = { server: 's', name: 't', summary: '', enabled: true, tags: [] };
    const flat: JsonSchema = { properties: { path: { type: 'string' }, deep: {} }, required: ['path'] };
    expect(describeTool({ ...tool, inputSchema: flat }, true).examples).toEqual([
      { generated: true, parameters: { path: 'string' } },
    ]);
    expect(describeTool({ ...tool, inputSchema: { properties: { deep: {} } } }, true).examples).toEqual([]);
    const own = [{ parameters: { path: '/x' } }];
    expect(describeTool({ ...tool, inputSchema: flat, examples: own }, true).examples).toBe(own);
  });

  it('come from the configuration first, then from the schema', () => {
    const own = [{ parameters: { a: 1 } }];
    expect(examplesFor({ examples: [{ b: 2 }] }, own)).toBe(own);
    expect(examplesFor({ examples: [{ b: 2 }, 'no', [1], null] })).toEqual([{ parameters: { b: 2 } }]);
    expect(examplesFor(undefined)).toEqual([]);
  });

  it('a parameter may be called __proto__', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}');
    const example = generateExample(schema);
    expect(Object.keys(example?.parameters ?? {})).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('never throws, and gives nothing where there is nothing to show', () => {
    expect(generateExample(undefined)).toBeUndefined();
    expect(generateExample({ type: 'string' })).toBeUndefined();
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        if (typeof schema === 'object' && schema !== null) generateExample(schema as JsonSchema);
      }),
    );
  });
});

describe('a schema of alternatives that refer to merged objects that refer to alternatives', () => {
  /** Counts how often the properties of the merged objects are read. */
  function hostile(): { readonly schema: JsonSchema; reads: () => number } {
    let reads = 0;
    const refs = (from: number, step: number) =>
      Array.from({ length: 16 }, (_, k) => ({ $ref: `#/$defs/d${(from + k * step) % 40}` }));
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => {
        const properties = Object.fromEntries(
          Array.from({ length: 30 }, (_, j) => [`p${i}_${j}`, { anyOf: refs(i + j, 7) }]),
        );
        const part = Object.defineProperty({}, 'properties', {
          enumerable: true,
          get: () => {
            reads++;
            return properties;
          },
        });
        return [`d${i}`, { allOf: [part, ...refs(i * 3, 1)] }];
      }),
    );
    const parameters = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${i}`, { anyOf: refs(i, 1) }]));
    return { schema: { type: 'object', properties: parameters, $defs }, reads: () => reads };
  }

  it.each([
    ['signature', signature],
    ['describeParameters', describeParameters],
  ])('is merged once for each object by %s', (_, read) => {
    const { schema, reads } = hostile();
    read(schema);
    expect(reads()).toBeLessThan(20_000);
  });
});
