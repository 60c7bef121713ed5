import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { jsonOf, textOf } from '../../test/fixtures/gateway/kit.ts';
import type { JsonSchema, ToolMetadata, ToolParameter } from '../core/types.ts';
import { detailsAnswer } from './details-answer.ts';

const tool = (inputSchema: JsonSchema | undefined, more: Partial<ToolMetadata> = {}): ToolMetadata => ({
  server: 's',
  name: 'create_issue',
  summary: '',
  enabled: true,
  tags: [],
  inputSchema,
  ...more,
});
const detailsOf = (...given: Parameters<typeof tool>) => jsonOf(detailsAnswer(tool(...given)));
const tokensOf = (...given: Parameters<typeof tool>): number =>
  countTokens(textOf(detailsAnswer(tool(...given))), { disallowedSpecial: new Set() });

const WORDS = 'Some words that explain it at length, as people do. '.repeat(6);
const text = { type: 'string', description: WORDS };
const properties = (count: number, schema: JsonSchema = text): JsonSchema => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`parameter_${i}`, schema])),
});

describe('details of a small tool', () => {
  it('are whole, in the shape of the specification', () => {
    const schema = { properties: { title: { type: 'string', description: 'Issue title' } }, required: ['title'] };
    expect(detailsOf(schema, { description: 'Create an issue.\n\n  It is open.', tags: ['issues'] })).toEqual({
      server: 's',
      tool: 'create_issue',
      description: 'Create an issue.\nIt is open.',
      parameters: [{ name: 'title', type: 'string', description: 'Issue title', required: true }],
      tags: ['issues'],
    });
    expect(detailsOf(undefined)).toEqual({ server: 's', tool: 'create_issue' });
  });

  it('say what holds for the parameters together', () => {
    const schema = { properties: { id: {}, name: {} }, anyOf: [{ required: ['id'] }, { required: ['name'] }] };
    expect(detailsOf(schema).note).toBe('one of: id | name');
    const shapes = { oneOf: [{ properties: { a: { type: 'null' } } }, { properties: { b: { type: 'null' } } }] };
    expect(detailsOf(shapes).note).toBe('one of: {a?: null}|{b?: null}');
    expect(detailsOf({ additionalProperties: { type: 'number' } }).note).toBe('other names: number');
    expect(detailsOf({ ...properties(1), if: {} }).more).toContain('read_schema');
  });

  it('keep examples that fit and point to those that do not', () => {
    const small = { parameters: { title: 'x' } };
    expect(detailsOf({}, { examples: [small] })).toMatchObject({ examples: [small] });
    const large = { parameters: { body: 'x'.repeat(9000) } };
    const cut = detailsOf({}, { examples: [large] });
    expect(cut.examples).toBeUndefined();
    expect(cut.more).toContain('read_schema');
  });
});

describe('details of a wordy tool', () => {
  it('are cut to first sentences, marked with an ellipsis, and keep every name, type and limit', () => {
    const schema = {
      properties: {
        repo: { type: 'string', description: `The repository. ${WORDS}` },
        state: { enum: ['open', 'closed'], default: 'open', description: 'The state' },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: `At most. ${WORDS}` },
      },
      required: ['repo'],
    };
    const details = detailsOf(schema, { description: `Lists issues. ${WORDS}` });
    expect(details.description).toMatch(/^Lists issues\. Some words .* …$/);
    expect(details.parameters).toMatchObject([
      { name: 'repo', type: 'string', required: true, description: expect.stringMatching(/^The repository.*…$/) },
      { name: 'state', type: "'open'|'closed' = \"open\"", required: false },
      { name: 'limit', type: 'integer (1..100)', required: false },
    ]);
    expect(tokensOf(schema, { description: `Lists issues. ${WORDS}` })).toBeLessThan(170);
  });

  it('show what a docstring says beside the parameter it speaks of', () => {
    const description = `Downloads.\n\nArgs:\n    path: Where to write\n    id: What to load\n\nReturns:\n    ${WORDS}`;
    const details = detailsOf({ properties: { path: {}, id: {} } }, { description });
    expect(details.description).toBe('Downloads. …');
    expect(details.parameters.map((one: ToolParameter) => one.description)).toEqual(['Where to write', 'What to load']);
  });
});

describe('details of a large schema', () => {
  it('are an outline of at most about 1,500 tokens that says how to read on', () => {
    const large: JsonSchema[] = [
      properties(60),
      properties(400),
      properties(30, properties(30, properties(10))),
      properties(5, { enum: Array.from({ length: 3000 }, (_, i) => `value number ${i}`) }),
      properties(300, { type: 'string', description: '検索'.repeat(100) }),
      { properties: { ['x'.repeat(5000)]: {} } },
    ];
    for (const schema of large) {
      expect(tokensOf(schema, { description: WORDS.repeat(20) })).toBeLessThan(1700);
      expect(detailsOf(schema, { description: WORDS.repeat(20) }).parameters.length).toBeGreaterThan(0);
    }
    expect(detailsOf(properties(400)).more).toMatch(/^\+\d+ more parameters; execute_tool anygpt read_schema/);
  });

  it('show the names inside an object that is too large for types', () => {
    const body = { ...properties(60, { type: 'string', enum: ['first value', 'second value'] }), type: 'object' };
    const [shown] = detailsOf({ properties: { body } }).parameters;
    expect(shown.type).toMatch(/^\{parameter_0\?, parameter_1\?, .*…/);
  });

  it('take references that stand for very much without effort', () => {
    const wide = properties(1500, { $ref: '#/$defs/wide' });
    expect(tokensOf({ ...wide, $defs: { wide } })).toBeLessThan(1700);
  });

  it('show what must be given, whatever else is left out', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), fc.jsonValue(), { maxKeys: 40 }),
        fc.jsonValue(),
        (given, rest) => {
          const required = Object.keys(given).slice(0, 3);
          const schema = { ...Object(rest), type: 'object', properties: given, required } as JsonSchema;
          const { parameters = [], more = '' } = detailsOf(schema);
          const names = parameters.map((one: ToolParameter) => one.name);
          for (const name of required) expect(names).toContain(name);
          const left = Number(/^\+(\d+) more/.exec(more)?.[1] ?? 0);
          expect(names.length + left).toBeGreaterThanOrEqual(Object.keys(given).length);
        },
      ),
    );
  });
});
