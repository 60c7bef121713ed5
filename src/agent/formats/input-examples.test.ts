import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DescribedTool } from './definition-types.ts';
import type { Node } from './schema-tree.ts';
import { surelyFits } from './surely-fits.ts';
import { toDefinitions } from './to-definitions.ts';

const examplesOf = (tool: Partial<DescribedTool>, strict = false): unknown =>
  toDefinitions([{ name: 't', ...tool }], { format: 'anthropic', inputExamples: true, strict }).definitions[0]
    ?.input_examples;

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('input_examples', () => {
  it('are those that came with the tool and those in its schema, each once', () => {
    const inputSchema = { ...city, examples: [{ city: 'Oslo' }, { city: 'Rome' }] };
    expect(examplesOf({ inputSchema, examples: [{ parameters: { city: 'Rome' } }] })).toEqual([
      { city: 'Rome' },
      { city: 'Oslo' },
    ]);
  });

  it('are sent only when they are asked for, by tool if need be', () => {
    const inputSchema = { ...city, examples: [{ city: 'Oslo' }] };
    const tools = [
      { name: 'a', inputSchema },
      { name: 'b', inputSchema },
    ];
    const has = (options: object) =>
      toDefinitions(tools, { format: 'anthropic', ...options }).definitions.map((tool) => 'input_examples' in tool);
    expect(has({})).toEqual([false, false]);
    expect(has({ inputExamples: ({ name }: DescribedTool) => name === 'b' })).toEqual([false, true]);
  });

  it('are never made up', () => {
    expect(examplesOf({ inputSchema: city })).toBeUndefined();
    expect(
      examplesOf({ inputSchema: city, examples: [{ parameters: { city: 'x' }, generated: true }] }),
    ).toBeUndefined();
  });

  it('that may not fit are left out', () => {
    const format = { type: 'object', properties: { at: { type: 'string', format: 'date' } } };
    expect(examplesOf({ inputSchema: { ...city, examples: [{}, { city: 5 }, 'Oslo', null] } })).toBeUndefined();
    expect(examplesOf({ inputSchema: { ...format, examples: [{ at: 'soon' }, {}] } })).toEqual([{}]);
    const own: Record<string, unknown> = { city: 'Oslo' };
    own.self = own;
    expect(examplesOf({ inputSchema: city, examples: [{ parameters: own }] })).toBeUndefined();
    expect(examplesOf({ inputSchema: city, examples: 'all' as unknown as [] })).toBeUndefined();
  });

  it('have the names that are sent, and are a copy', () => {
    const example = { 'the city': { name: 'Oslo' } };
    const inputSchema = { type: 'object', properties: { 'the city': { type: 'object' } }, examples: [example] };
    const [sent] = examplesOf({ inputSchema }) as Record<string, unknown>[];
    expect(sent).toEqual({ the_city: { name: 'Oslo' } });
    expect(sent?.the_city).not.toBe(example['the city']);
  });

  it('fit the strict schema where that is sent', () => {
    const inputSchema = { ...city, examples: [{ city: 'Oslo', extra: 1 }, { city: 'Rome' }] };
    expect(examplesOf({ inputSchema })).toHaveLength(2);
    expect(examplesOf({ inputSchema }, true)).toEqual([{ city: 'Rome' }]);
  });

  it('are at most five', () => {
    const examples = Array.from({ length: 30 }, (_, at) => ({ parameters: { city: `c${at}` } }));
    expect(examplesOf({ inputSchema: city, examples })).toHaveLength(5);
  });
});

describe('what surely fits', () => {
  const ajv = new Ajv2020({ strict: false, ownProperties: true, validateFormats: false });
  const value = fc.jsonValue({ maxDepth: 3 });
  const { schema } = fc.letrec((tie) => {
    const one = tie('schema');
    const named = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), one, { maxKeys: 2, noNullPrototype: true });
    const list = fc.array(one, { minLength: 1, maxLength: 2 });
    const keywords: Record<string, fc.Arbitrary<unknown>> = {
      type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null', ['string', 'null']),
      enum: fc.array(value, { minLength: 1, maxLength: 3 }).map((all) => [...all, 'a', 1]),
      const: value,
      description: fc.string(),
      minimum: fc.integer({ max: 3 }),
      maximum: fc.integer({ min: -3 }),
      minLength: fc.nat(2),
      maxLength: fc.nat(5),
      minItems: fc.nat(2),
      maxItems: fc.nat(3),
      required: fc.constantFrom([], ['a']),
      additionalProperties: fc.oneof(fc.boolean(), one),
      properties: named,
      items: one,
      prefixItems: list,
      anyOf: list,
      allOf: list,
      not: one,
      pattern: fc.constant('a'),
      $ref: fc.constantFrom('#', '#/$defs/d'),
    };
    const node = fc
      .array(fc.oneof(...Object.entries(keywords).map(([key, of]) => fc.tuple(fc.constant(key), of))), { maxLength: 3 })
      .map((entries) => Object.fromEntries(entries));
    return { schema: fc.oneof({ depthSize: 'small', maxDepth: 4 }, fc.boolean(), node) };
  });

  /** A schema that refers to itself in place has no meaning, and the validator would recurse forever. */
  const holdsFor = (root: Node, given: unknown): boolean => {
    try {
      return ajv.compile(root)(given);
    } catch (error) {
      if (error instanceof RangeError) return true;
      throw error;
    }
  };

  it('fits for a validator, too', () => {
    let fitting = 0;
    fc.assert(
      fc.property(value, schema, schema, (given, one, $d) => {
        const root = { ...(typeof one === 'object' ? (one as Node) : { type: 'object' }), $defs: { d: $d } };
        if (!surelyFits(given, root)) return;
        fitting++;
        expect(holdsFor(root, given), JSON.stringify([given, root])).toBe(true);
      }),
      { numRuns: 2000 },
    );
    expect(fitting).toBeGreaterThan(100);
  });

  it('is found out in bounded time', () => {
    const d = { anyOf: [{ allOf: [{ $ref: '#/$defs/d' }, { $ref: '#/$defs/d' }] }, { $ref: '#/$defs/d' }] };
    expect(surelyFits({}, { $ref: '#/$defs/d', $defs: { d } })).toBe(false);
  });
});
