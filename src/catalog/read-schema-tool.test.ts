import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchema, ToolMetadata } from '../core/types.ts';
import { textWeight } from '../text/text-weight.ts';
import { readSchema } from './read-schema-tool.ts';
import { step } from './schema-part.ts';

const PAGE = 5600;

const tool = (inputSchema: JsonSchema, more: Partial<ToolMetadata> = {}): ToolMetadata => ({
  server: 's',
  name: 't',
  summary: '',
  enabled: true,
  tags: [],
  inputSchema,
  ...more,
});

const pageOf = (of: ToolMetadata, path = '', page = 1): [string, string] => {
  const read = readSchema(of, path, page);
  if (!read.success) throw new Error(read.error.message);
  const [first, second] = read.data.content ?? [];
  return [String(first?.text), String(second?.text ?? '')];
};

/** All pages of a part. */
function readAll(of: ToolMetadata, path: string): string {
  let all = '';
  for (let page = 1; ; page++) {
    const [text, mark] = pageOf(of, path, page);
    expect(textWeight(text)).toBeLessThanOrEqual(PAGE + 4);
    all += text;
    if (!mark.includes(`go on with page ${page + 1}`)) return all;
  }
}

/** The places an agent comes to see when it reads on at every reference. */
function reachable(of: ToolMetadata): Set<string> {
  const seen = new Set<string>();
  const done = new Set<string>();
  const queue = ['#'];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (done.has(path)) continue;
    done.add(path);
    const whole = JSON.parse(readAll(of, path));
    const visit = (value: unknown, pointer: string): void => {
      seen.add(pointer);
      if (typeof value !== 'object' || value === null) return;
      const { $ref } = value as { $ref?: unknown };
      if (typeof $ref === 'string' && $ref.startsWith('#/')) queue.push($ref);
      for (const [name, item] of Object.entries(value)) visit(item, pointer + step(name));
    };
    visit(path === '#' ? whole.inputSchema : whole, path.slice(1));
  }
  return seen;
}

function placesIn(value: unknown, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null) return [pointer];
  return [pointer, ...Object.entries(value).flatMap(([name, item]) => placesIn(item, pointer + step(name)))];
}

const words = fc.integer({ min: 0, max: 80 }).map((count) => 'some words '.repeat(count));
const { schema } = fc.letrec<{ schema: JsonSchema; properties: Record<string, JsonSchema> }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.record({ type: fc.constantFrom('string', 'integer', 'boolean'), description: words }),
    fc.record({ enum: fc.array(fc.string({ maxLength: 30 }), { maxLength: 60 }) }),
    fc.record({ type: fc.constant('object'), properties: tie('properties'), description: words }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 6 }) }),
  ),
  properties: fc.dictionary(
    fc.string({ minLength: 1, maxLength: 20 }).filter((name) => name !== '$ref'),
    tie('schema'),
    {
      maxKeys: 12,
    },
  ),
}));

describe('readSchema', () => {
  it('gives a small definition whole', () => {
    const inputSchema = { properties: { a: { type: 'string', description: 'x'.repeat(1000) } } };
    const examples = [{ parameters: { a: 'b' } }];
    const [text, mark] = pageOf(tool(inputSchema, { description: 'What\n it does', examples }));
    expect(JSON.parse(text)).toEqual({ description: 'What\n it does', examples, inputSchema });
    expect(mark).toBe('');
  });

  it('gives one parameter as the server wrote it', () => {
    const a = { type: 'string', description: 'long '.repeat(300), pattern: '^a$', not: { const: 'b' } };
    expect(JSON.parse(pageOf(tool({ properties: { a } }), 'a')[0])).toEqual(a);
    expect(pageOf(tool({ properties: { a } }), '/properties/a/description')[0]).toBe(a.description);
  });

  it('replaces references by their targets while there is room', () => {
    const small = { type: 'object', properties: { id: { type: 'string' }, next: { $ref: '#/$defs/small' } } };
    const large = { type: 'object', description: 'x'.repeat(9000) };
    const inputSchema = {
      properties: {
        list: { type: 'array', items: { $ref: '#/$defs/small' } },
        one: { items: { $ref: '#/$defs/large' } },
      },
      $defs: { small, large, alias: { $ref: '#/$defs/small' } },
    };
    expect(JSON.parse(pageOf(tool(inputSchema), 'list')[0]).items.properties.next.properties.id).toEqual({
      type: 'string',
    });
    expect(JSON.parse(pageOf(tool(inputSchema), '#/$defs/alias')[0]).properties.id).toEqual({ type: 'string' });
    expect(pageOf(tool(inputSchema), 'one')).toEqual([
      '{"items":{"$ref":"#/$defs/large"}}',
      expect.stringContaining('as path'),
    ]);
  });

  it('shows an outline of a large schema, with references to read on at', () => {
    const inner = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`inner_${i}`, { enum: ['some', 'values'] }]),
    );
    const outer = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`outer_${i}`, { type: 'object', properties: inner }]),
    );
    const [text, mark] = pageOf(tool({ type: 'object', properties: outer, required: ['outer_1'] }));
    const { inputSchema } = JSON.parse(text);
    expect(inputSchema.required).toEqual(['outer_1']);
    expect(Object.keys(inputSchema.properties)).toHaveLength(20);
    expect(inputSchema.properties.outer_3.properties).toEqual({ $ref: '#/properties/outer_3/properties' });
    expect(mark).toContain('call this again');
    expect(JSON.parse(pageOf(tool({ properties: outer }), '#/properties/outer_3/properties')[0])).toEqual(inner);
  });

  it('leads to every part of any schema, in pages that are bounded', () => {
    fc.assert(
      fc.property(schema, words, (inputSchema, description) => {
        const of = tool({ type: 'object', properties: { root: inputSchema } }, { description });
        const seen = reachable(of);
        expect(placesIn(of.inputSchema).filter((place) => !seen.has(place))).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it('leads to every part of very wide and very deep ones', () => {
    const names = Array.from({ length: 3000 }, (_, i) => `p${i}`);
    let deep: JsonSchema = { type: 'string', description: 'the deepest' };
    for (let i = 0; i < 80; i++)
      deep = { type: 'object', properties: { [`level ${i}`]: deep, other: { type: 'null' } } };
    const inputSchema = {
      type: 'object',
      properties: {
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        deep,
        list: { enum: names },
      },
    };
    const seen = reachable(tool(inputSchema, { description: 'words '.repeat(5000) }));
    expect(placesIn(inputSchema).filter((place) => !seen.has(place))).toEqual([]);
  });

  it('says what exists if a part or a page does not', () => {
    const of = tool({ properties: { filter: {} } });
    expect(readSchema(of, 'filtre', 1)).toMatchObject({
      success: false,
      error: { code: 'TOOL_VALIDATION_ERROR', suggestions: ['filter'], outcome: 'not_sent' },
    });
    expect(readSchema(of, '', 2)).toMatchObject({ success: false, error: { schema: { maximum: 1 } } });
    expect(readSchema(of, '', 0.5)).toMatchObject({ success: false });
    expect(pageOf(tool({ properties: {} }, { description: 'x'.repeat(9000) }), '', 2)[1]).toBe(
      '[The last of 2 pages.]',
    );
  });

  it('shows invisible characters as numbers in names and values, and leaves them out of prose', () => {
    const hidden = 'a\u202eb\u{e0041}';
    const properties = { [hidden]: { enum: [hidden], description: `${hidden}c`, title: '\u009bx' } };
    const [text] = pageOf(tool({ properties }));
    expect(JSON.parse(text).inputSchema.properties).toEqual({
      'a\\u{202e}b\\u{e0041}': { enum: ['a\\u{202e}b\\u{e0041}'], description: 'abc', title: 'x' },
    });
    for (const path of [hidden, 'a\\u{202e}b\\u{e0041}'])
      expect(pageOf(tool({ properties }), path)[0]).toContain('"enum":["a\\\\u{202e}b');
  });

  it('takes circular references, and ones that expand to very much', () => {
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { $ref: '#/$defs/wide' }]));
    const inputSchema = {
      properties: { loop: { $ref: '#/$defs/loop' }, wide: { $ref: '#/$defs/wide' } },
      $defs: { loop: { $ref: '#/$defs/loop' }, wide: { properties } },
    };
    expect(pageOf(tool(inputSchema), 'loop')[0]).toBe('{"$ref":"#/$defs/loop"}');
    expect(textWeight(pageOf(tool(inputSchema), 'wide')[0])).toBeLessThanOrEqual(PAGE);
  });
});
