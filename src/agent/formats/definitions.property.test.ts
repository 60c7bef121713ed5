import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aiSdkTools,
  anthropicTools,
  geminiTools,
  langChainTools,
  openAiChatTools,
  openAiResponsesTools,
} from '../../../test/api-rules.ts';
import type { DescribedTool } from './definition-types.ts';
import { toDefinitions } from './to-definitions.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const name = fc.constantFrom('a', 'b', 'user-id', '__proto__', '$x', 'constructor', '', 'ü', 'x'.repeat(70));
const reference = fc.constantFrom(
  '#',
  '#/$defs/a',
  '#/$defs/b',
  '#/definitions/a',
  '#/properties/a',
  '#/properties/a/items',
  '#anchor',
  '#/nowhere',
);
const scalar = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true }),
);
const junk = fc.oneof(scalar, fc.object({ maxDepth: 2, maxKeys: 3 }), fc.array(scalar, { maxLength: 2 }));

/** Schemas of every kind, some of them nonsense: a few keywords each. */
const { schema } = fc.letrec((tie) => {
  const one = tie('schema');
  const map = fc.dictionary(name, one, { maxKeys: 3, noNullPrototype: true });
  const list = fc.array(one, { maxLength: 3 });
  const keyword = (key: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<[string, unknown]> =>
    fc.tuple(fc.constant(key), fc.oneof({ weight: 15, arbitrary: value }, { weight: 1, arbitrary: junk }));
  const node = fc.array(
    fc.oneof(
      { depthSize: 'small' },
      keyword('type', fc.oneof(fc.constantFrom(...TYPES), fc.subarray(TYPES))),
      keyword('required', fc.array(name, { maxLength: 3 })),
      keyword('$ref', reference),
      keyword('$anchor', fc.constant('anchor')),
      keyword('enum', fc.array(scalar, { maxLength: 3 })),
      keyword('const', scalar),
      keyword('default', junk),
      keyword('description', fc.string({ maxLength: 5 })),
      keyword('format', fc.constantFrom('date', 'uri', 'int32', 'weird')),
      keyword('pattern', fc.constantFrom('^a', '(?=x)', '(')),
      keyword('minimum', fc.integer()),
      keyword('exclusiveMinimum', fc.boolean()),
      keyword('minItems', fc.nat(5)),
      keyword('minLength', fc.integer()),
      keyword('examples', fc.array(junk, { maxLength: 2 })),
      keyword('dependentRequired', fc.dictionary(name, fc.array(name, { maxLength: 2 }), { maxKeys: 2 })),
      keyword('unevaluatedProperties', fc.boolean()),
      keyword('$schema', junk),
      keyword('$id', fc.constantFrom('https://x.org/a', 5)),
      keyword('x-own', junk),
      ...['properties', 'patternProperties', '$defs', 'definitions'].map((key) => keyword(key, map)),
      ...['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'].map((key) => keyword(key, list)),
      ...['items', 'not', 'if', 'additionalProperties'].map((key) => keyword(key, one)),
      keyword('additionalProperties', fc.boolean()),
    ),
    { maxLength: 4 },
  );
  return {
    schema: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 1, arbitrary: junk },
      { weight: 8, arbitrary: node.map((entries) => Object.fromEntries(entries)) },
    ),
  };
});

const tools = fc.array(
  fc.record({
    server: fc.option(fc.string({ maxLength: 4 }), { nil: undefined }),
    name: fc.string({ maxLength: 8 }),
    description: fc.option(fc.string({ maxLength: 5 }), { nil: undefined }),
    inputSchema: fc.oneof(
      schema,
      fc.record(
        {
          type: fc.constant('object'),
          properties: fc.dictionary(name, schema, { maxKeys: 4, noNullPrototype: true }),
          required: fc.array(name, { maxLength: 2 }),
          $defs: fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true }),
        },
        { noNullPrototype: true },
      ),
    ),
  }),
  { minLength: 1, maxLength: 4 },
) as fc.Arbitrary<DescribedTool[]>;

/** Each format in each of its modes: the definitions, the API's verdict, and the schemas in them. */
const MODES = {
  anthropic: (all: DescribedTool[]) => {
    const { definitions } = toDefinitions(all, { format: 'anthropic' });
    return [anthropicTools(definitions), definitions.map((tool) => tool.input_schema)] as const;
  },
  'anthropic strict': (all: DescribedTool[]) => {
    const { definitions } = toDefinitions(all, { format: 'anthropic', strict: true });
    return [anthropicTools(definitions), definitions.map((tool) => tool.input_schema)] as const;
  },
  openai: (all: DescribedTool[]) => {
    const { definitions } = toDefinitions(all, { format: 'openai-chat' });
    return [openAiChatTools(definitions), definitions.map((tool) => tool.function.parameters)] as const;
  },
  'openai strict': (all: DescribedTool[]) => {
    const { definitions } = toDefinitions(all, { format: 'openai-chat', strict: true });
    return [openAiChatTools(definitions), definitions.map((tool) => tool.function.parameters)] as const;
  },
  'openai namespaces': (all: DescribedTool[]) =>
    [
      openAiResponsesTools(
        toDefinitions(all, { format: 'openai-responses', strict: true, namespaces: true }).definitions,
      ),
      [],
    ] as const,
  gemini: (all: DescribedTool[]) => {
    const { definitions } = toDefinitions(all, { format: 'gemini' });
    const functions = definitions.flatMap((tool) => tool.functionDeclarations);
    return [geminiTools(definitions), functions.map((one) => one.parametersJsonSchema)] as const;
  },
  'gemini open-api': (all: DescribedTool[]) =>
    [geminiTools(toDefinitions(all, { format: 'gemini', parameters: 'open-api' }).definitions), []] as const,
  'ai-sdk': (all: DescribedTool[]) => [aiSdkTools(toDefinitions(all, { format: 'ai-sdk' }).definitions), []] as const,
  langchain: (all: DescribedTool[]) =>
    [langChainTools(toDefinitions(all, { format: 'langchain' }).definitions), []] as const,
};

describe.each(Object.entries(MODES))('%s', (_mode, make) => {
  it('takes every definition, whatever the schema was', () => {
    fc.assert(
      fc.property(tools, (all) => {
        expect(make(all)[0]).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('finds nothing to change in what it made', () => {
    fc.assert(
      fc.property(tools, (all) => {
        const [, schemas] = make(all);
        for (const inputSchema of schemas) expect(make([{ name: 't', inputSchema }])[1]).toEqual([inputSchema]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('arguments', () => {
  const ajv = new Ajv2020({ strict: false, ownProperties: true });
  // If null is an allowed value, it cannot also mean that a parameter was left out.
  const takesNull = (one: object): boolean => ajv.validate(one, null);
  /** A plain schema and a value that matches it. */
  type Pair = { readonly schema: Record<string, unknown>; readonly value: unknown };
  const { pair } = fc.letrec<{ pair: Pair; object: Pair }>((tie) => ({
    pair: fc.oneof(
      { depthSize: 'small' },
      fc.string({ maxLength: 5 }).map((value) => ({ schema: { type: 'string' }, value })),
      fc.integer().map((value) => ({ schema: { type: 'integer' }, value })),
      fc.constantFrom('x', 'y').map((value) => ({ schema: { enum: ['x', 'y'] }, value })),
      fc.constant({ schema: { type: ['string', 'null'] }, value: null }),
      fc.boolean().map((value) => ({ schema: { const: value }, value })),
      fc
        .array(tie('pair'), { minLength: 1, maxLength: 1 })
        .map(([one]) => ({ schema: { type: 'array', items: one?.schema }, value: [one?.value] })),
      tie('pair').map(({ schema: one, value }) => ({ schema: { anyOf: [one, { type: 'boolean' }] }, value })),
      tie('object'),
    ),
    object: fc
      .array(
        fc.tuple(
          fc.constantFrom('a', 'b', 'c d', '$e', 'constructor'),
          tie('pair'),
          fc.constantFrom('required', 'given', 'left out'),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((all) => {
        const own = all.filter(([key], at) => all.findIndex(([other]) => other === key) === at);
        return {
          schema: {
            type: 'object',
            properties: Object.fromEntries(own.map(([key, one]) => [key, one.schema])),
            required: own.filter(([, , use]) => use === 'required').map(([key]) => key),
          },
          value: Object.fromEntries(
            own
              .filter(([, one, use]) => use !== 'left out' || takesNull(one.schema))
              .map(([key, one]) => [key, one.value]),
          ),
        };
      }),
  }));
  const { object } = { object: pair.filter(({ schema: one }) => one.type === 'object') };

  it('that a strict schema takes come back as the tool wants them', () => {
    fc.assert(
      fc.property(object, ({ schema: inputSchema, value }) => {
        const { definitions, readCall } = toDefinitions([{ name: 't', inputSchema }], {
          format: 'openai-chat',
          strict: true,
        });
        const made = definitions[0]?.function;
        expect(made?.strict).toBe(true);
        const written = withNulls(value, inputSchema);
        expect(ajv.validate(made?.parameters ?? {}, written), JSON.stringify([made?.parameters, written])).toBe(true);
        expect(readCall({ name: 't', arguments: JSON.stringify(written) })?.arguments).toEqual(value);
      }),
    );
  });

  it('that any other format takes come back unchanged', () => {
    fc.assert(
      fc.property(object, ({ schema: inputSchema, value }) => {
        for (const format of ['anthropic', 'gemini'] as const) {
          const { definitions, readCall } = toDefinitions([{ name: 't', inputSchema }], { format });
          const [made] = definitions as readonly {
            input_schema?: object;
            functionDeclarations?: { parametersJsonSchema: object }[];
          }[];
          const schemaMade = (made?.input_schema ?? made?.functionDeclarations?.[0]?.parametersJsonSchema) as {
            properties: object;
          };
          const names = Object.keys(schemaMade.properties);
          const own = Object.keys(inputSchema.properties as object);
          const renamed = Object.fromEntries(
            Object.entries(value as object).map(([key, item]) => [names[own.indexOf(key)] ?? '', item]),
          );
          expect(ajv.validate(schemaMade, renamed)).toBe(true);
          expect(readCall({ name: 't', arguments: renamed })?.arguments).toEqual(value);
        }
      }),
    );
  });

  /** What a model in strict mode writes: null for everything that is left out. */
  function withNulls(value: unknown, one: unknown): unknown {
    const { properties, items, anyOf } = one as {
      properties?: Record<string, unknown>;
      items?: unknown;
      anyOf?: unknown[];
    };
    if (anyOf) return withNulls(value, anyOf[0]);
    if (Array.isArray(value)) return value.map((item) => withNulls(item, items));
    if (!properties) return value;
    return Object.fromEntries(
      Object.entries(properties).map(([key, inner]) => [
        key,
        Object.hasOwn(value as object, key) ? withNulls((value as Record<string, unknown>)[key], inner) : null,
      ]),
    );
  }
});

describe('hostile schemas', () => {
  const branching = (levels: number) => ({
    type: 'object',
    properties: { a: { $ref: '#/$defs/l0' } },
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, at) => [
        `l${at}`,
        at + 1 < levels
          ? { type: 'object', properties: { x: { $ref: `#/$defs/l${at + 1}` }, y: { $ref: `#/$defs/l${at + 1}` } } }
          : { type: 'string' },
      ]),
    ),
  });
  it.each([
    ['references that double at each of 40 levels', branching(40)],
    [
      'a chain of 5,000 references',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/l0' } },
        $defs: Object.fromEntries(
          Array.from({ length: 5000 }, (_, at) => [
            `l${at}`,
            { type: 'object', properties: { x: { $ref: `#/$defs/l${at + 1}` } } },
          ]),
        ),
      },
    ],
    [
      'parts that are parts of themselves',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: {
          a: { allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/a' }] },
          b: {
            allOf: [{ $ref: '#/$defs/a' }],
            properties: { c: { allOf: [{ $ref: '#/$defs/a' }, { type: 'object' }] } },
          },
        },
      },
    ],
    [
      'alternatives of alternatives of themselves',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: {
          a: {
            type: 'object',
            anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }, { properties: { x: { $ref: '#/$defs/a' } } }],
          },
        },
      },
    ],
    [
      '10,000 references of one name',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 10_000 }, (_, at) => [`p${at}`, { $ref: `#/$defs/d${at}/properties/x` }]),
        ),
        $defs: Object.fromEntries(
          Array.from({ length: 10_000 }, (_, at) => [`d${at}`, { properties: { x: { type: 'string' } } }]),
        ),
      },
    ],
    [
      '10,000 anchors that lead nowhere',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`p${at}`, { $ref: `#a${at}` }])),
      },
    ],
    ['the top as its own alternative', { anyOf: [{ $ref: '#' }, { allOf: [{ $ref: '#' }] }] }],
  ])('are bounded: %s', (_what, inputSchema) => {
    for (const make of Object.values(MODES)) expect(make([{ name: 't', inputSchema }])[0]).toEqual([]);
  });
});
