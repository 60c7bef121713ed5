import { describe, expect, it } from 'vitest';
import { anthropicTools, geminiTools, openAiChatTools } from '../../../test/api-rules.ts';
import type { DescribedTool, ObjectSchema, OpenAiFunction } from './definition-types.ts';
import { toDefinitions } from './to-definitions.ts';

const schemaFor = (inputSchema: unknown, strict = true): OpenAiFunction => {
  const [tool] = toDefinitions([{ name: 't', inputSchema }], { format: 'openai-responses', strict }).definitions;
  return tool as OpenAiFunction;
};

function nested(levels: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: 'string' };
  for (let level = 0; level < levels; level++) schema = { type: 'object', properties: { a: schema }, required: ['a'] };
  return schema;
}

describe('strict mode falls back, tool by tool', () => {
  it.each([
    ['free names', { properties: { a: { type: 'object' } } }, 'a allows properties that are not listed'],
    ['open objects', { additionalProperties: true }, 'it allows properties that are not listed'],
    [
      'patterns of names',
      { properties: { a: { properties: { b: { type: 'string' } }, patternProperties: { '^x': {} } } } },
      'a allows properties',
    ],
    ['anything', { properties: { a: {} } }, 'a may be anything'],
    ['any items', { properties: { a: { type: 'array' } } }, 'a[] may be anything'],
    ['tuples', { properties: { a: { type: 'array', items: [{ type: 'string' }] } } }, 'a uses prefixItems'],
    ['conditions', { properties: { a: { type: 'string', if: {}, else: { const: 'x' } } } }, 'a uses if'],
    ['negation', { properties: { a: { type: 'string', not: { const: 'x' } } } }, 'a uses not'],
    ['dependencies', { properties: {}, dependentRequired: { a: ['b'] } }, 'it uses dependentRequired'],
    ['unknown required names', { properties: {}, required: ['a'] }, 'it requires a and does not describe it'],
    ['objects in an enum', { properties: { a: { enum: [{ b: 1 }] } } }, 'a value that is not plain'],
    [
      'parts that contradict',
      { properties: { a: { allOf: [{ type: 'string' }, { type: 'number' }] } } },
      'cannot be merged',
    ],
    ['eleven levels', nested(11), '11 levels'],
    [
      'too many enum values',
      { properties: { a: { enum: Array.from({ length: 1001 }, (_, at) => `v${at}`) } } },
      '1002 enum values',
    ],
    [
      'long enums',
      { properties: { a: { enum: Array.from({ length: 251 }, (_, at) => `${at}`.padStart(60)) } } },
      'characters in one enum',
    ],
  ])('%s', (_what, schema, reason) => {
    const inputSchema = { type: 'object', ...schema };
    const { definitions, problems } = toDefinitions(
      [
        { server: 's', name: 't', inputSchema },
        { name: 'fits', inputSchema: { type: 'object', properties: {} } },
      ],
      { format: 'openai-chat', strict: true },
    );
    expect(definitions.map((tool) => tool.function.strict)).toEqual([undefined, true]);
    expect(problems).toContainEqual({
      server: 's',
      tool: 't',
      kind: 'not-strict',
      message: expect.stringContaining(reason),
    });
    expect(openAiChatTools(definitions)).toEqual([]);
  });

  it('for Anthropic also where the schema refers to itself', () => {
    const inputSchema = { type: 'object', properties: { child: { $ref: '#' } } };
    const { definitions, problems } = toDefinitions([{ name: 't', inputSchema }], {
      format: 'anthropic',
      strict: true,
    });
    expect(definitions[0]).toEqual({ name: 't', input_schema: inputSchema });
    expect(problems[0]?.message).toBe('It is not strict: it refers to itself.');
    expect(schemaFor(inputSchema).strict).toBe(true);
  });

  it('for Anthropic also where a request is full', () => {
    const plain = (name: string): DescribedTool => ({ name, inputSchema: { type: 'object', properties: {} } });
    const many = toDefinitions(
      Array.from({ length: 22 }, (_, at) => plain(`t${at}`)),
      { format: 'anthropic', strict: true },
    );
    expect(many.definitions.filter(({ strict }) => strict)).toHaveLength(20);
    expect(many.problems).toHaveLength(2);
    const wide = (type: unknown, count: number): DescribedTool => ({
      name: `w${count}`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { type }])),
        required: Array.isArray(type) ? Array.from({ length: count }, (_, at) => `p${at}`) : [],
      },
    });
    const options = { format: 'anthropic', strict: true } as const;
    expect(
      toDefinitions([wide('string', 20), wide('string', 5), wide('string', 4)], options).definitions.map(
        (one) => one.strict,
      ),
    ).toEqual([true, undefined, true]);
    expect(toDefinitions([wide(['string', 'null'], 17)], options).problems[0]?.message).toContain(
      '16 parameters with alternatives',
    );
  });

  it('is asked for by tool where that is wanted', () => {
    const tools = [{ name: 'a' }, { name: 'b' }];
    const { definitions } = toDefinitions(tools, { format: 'openai-responses', strict: ({ name }) => name === 'b' });
    expect(definitions.map((tool) => (tool as OpenAiFunction).strict)).toEqual([false, true]);
  });
});

describe('schemas are rewritten for strict mode', () => {
  it.each([
    [
      'oneOf becomes anyOf',
      { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    ],
    ['what nothing fits is no alternative', { anyOf: [{ not: {} }, { type: 'string' }] }, { type: 'string' }],
    [
      'allOf is merged',
      { allOf: [{ type: 'number', minimum: 1 }, { type: 'integer', minimum: 5, maximum: 9 }, { maximum: 7 }] },
      { type: 'integer', minimum: 5, maximum: 7 },
    ],
    [
      'allOf around a reference is that reference',
      { allOf: [{ $ref: '#/$defs/d' }], description: 'D' },
      { anyOf: [{ $ref: '#/$defs/d' }], description: 'D' },
    ],
    [
      'words beside a reference move around it',
      { $ref: '#/$defs/d', title: 'T', default: 'x' },
      { anyOf: [{ $ref: '#/$defs/d' }], title: 'T', description: '= "x"' },
    ],
    [
      'limits beside a reference are merged with it',
      { $ref: '#/$defs/d', pattern: '^a' },
      { type: 'string', pattern: '^a' },
    ],
    [
      'what holds for all alternatives moves into each',
      { type: 'integer', anyOf: [{ minimum: 5 }, { maximum: 1 }, { type: 'string' }] },
      {
        anyOf: [
          { type: 'integer', minimum: 5 },
          { type: 'integer', maximum: 1 },
        ],
      },
    ],
    ['types are implied', { const: 3 }, { type: 'integer', const: 3 }],
    ['items imply an array', { items: { type: 'string' } }, { type: 'array', items: { type: 'string' } }],
    [
      'unknown formats become words',
      { type: 'string', format: 'uri', description: 'Where' },
      { type: 'string', description: 'Where (uri)' },
    ],
    ['look-around becomes words', { type: 'string', pattern: '^(?!x)' }, { type: 'string', description: '(/^(?!x)/)' }],
    [
      'examples and duplicates become words',
      { type: 'array', items: { type: 'string' }, uniqueItems: true, examples: [['a']] },
      { type: 'array', items: { type: 'string' }, description: 'No duplicates. For example ["a"].' },
    ],
  ])('%s', (_what, property, expected) => {
    const inputSchema = {
      type: 'object',
      properties: { p: property },
      required: ['p'],
      $defs: { d: { type: 'string' } },
    };
    expect(schemaFor(inputSchema).parameters.properties.p).toEqual(expected);
  });

  it.each([
    ['a constant', { const: 'x' }, { anyOf: [{ type: 'string', const: 'x' }, { type: 'null' }] }],
    ['a reference', { $ref: '#/$defs/d' }, { anyOf: [{ $ref: '#/$defs/d' }, { type: 'null' }] }],
    [
      'alternatives',
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    ],
    ['what allows it already', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
  ])('%s that may be left out allows null', (_what, property, expected) => {
    const inputSchema = { type: 'object', properties: { p: property }, $defs: { d: { type: 'string' } } };
    expect(schemaFor(inputSchema).parameters.properties.p).toEqual(expected);
  });

  it('sets of required names are said in words', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        by: {
          type: 'object',
          properties: { id: { type: 'string' }, name: { type: 'string' } },
          anyOf: [{ required: ['id'] }, { required: ['name'] }],
        },
      },
      required: ['by'],
    };
    expect(schemaFor(inputSchema).parameters.properties.by).toMatchObject({
      type: 'object',
      description: 'Give one of: id | name.',
    });
  });

  it('references into properties become definitions, two of one name as two', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        from: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
        to: { $ref: '#/properties/from' },
        a: { $ref: '#/properties/to/x%20y/from' },
        b: { $ref: '#/$defs/from' },
        c: { $ref: '#name' },
      },
      required: ['from', 'to', 'a', 'b', 'c'],
      $defs: { from: { type: 'number' }, named: { $anchor: 'name', type: 'boolean' } },
    };
    const { parameters, strict } = schemaFor(inputSchema, false);
    expect(strict).toBe(false);
    expect(parameters.properties.a).toEqual({});
    const { a: _dangling, ...properties } = inputSchema.properties;
    const fitted = schemaFor({ ...inputSchema, properties, required: Object.keys(properties) });
    expect(fitted.parameters.properties).toMatchObject({
      to: { $ref: '#/$defs/from' },
      b: { $ref: '#/$defs/from_2' },
      c: { $ref: '#/$defs/name' },
    });
    expect(fitted.parameters.$defs).toMatchObject({
      from: { type: 'object' },
      from_2: { type: 'number' },
      name: { type: 'boolean' },
    });
  });

  it('references to the schema’s own address are its own', () => {
    const inputSchema = {
      $id: 'https://x.org/s',
      type: 'object',
      properties: { a: { $ref: 'https://x.org/s#/$defs/d' } },
      $defs: { d: { type: 'string' } },
    };
    expect(schemaFor(inputSchema, false).parameters.properties.a).toEqual({ $ref: '#/$defs/d' });
  });
});

describe('the top of a schema', () => {
  const top = (inputSchema: unknown) => toDefinitions([{ name: 't', inputSchema }], { format: 'anthropic' });
  it.each([
    ['nothing', undefined, { type: 'object', properties: {} }],
    ['an empty object', {}, { type: 'object', properties: {} }],
    ['another type', { type: 'string' }, { type: 'object', properties: {} }],
    [
      'a reference',
      { $ref: '#/$defs/d', $defs: { d: { properties: { a: {} } } } },
      { type: 'object', properties: { a: {} }, $defs: { d: { properties: { a: {} } } } },
    ],
    ['a reference to itself', { $ref: '#' }, { type: 'object', properties: {} }],
    [
      'parts',
      { allOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }] },
      { type: 'object', properties: { a: {}, b: {} }, required: ['a'] },
    ],
    [
      'alternatives',
      {
        type: 'object',
        oneOf: [
          { properties: { id: { type: 'string' }, x: {} }, required: ['id', 'x'] },
          { properties: { id: { type: 'integer' }, name: {}, x: {} }, required: ['name', 'x'] },
        ],
      },
      {
        type: 'object',
        properties: { id: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, x: {}, name: {} },
        required: ['x'],
        description: 'Give one of: id | name.',
      },
    ],
    [
      'a choice of required names',
      { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: 'object', properties: { a: {}, b: {} }, description: 'Give one of: a | b.' },
    ],
    ['negation', { type: 'object', not: { required: ['a'] } }, { type: 'object', properties: {} }],
  ])('becomes an object: %s', (_what, schema, expected) => {
    const { definitions } = top(schema);
    expect(definitions[0]?.input_schema).toEqual(expected);
    expect(anthropicTools(definitions)).toEqual([]);
  });

  it('keeps what is referred to when the part it stood in goes', () => {
    const { definitions } = top({
      properties: { a: { $ref: '#/anyOf/0/properties/b' }, c: { $ref: '#here' }, d: { $ref: '#/not' } },
      anyOf: [{ properties: { b: { type: 'string' } } }, { $anchor: 'here', $defs: { part_1: {} } }],
      not: { items: { $ref: '#/anyOf/1' } },
      $defs: { part_1: { type: 'null' } },
    });
    expect(anthropicTools(definitions)).toEqual([]);
    const { properties, $defs } = definitions[0]?.input_schema ?? ({ type: 'object', properties: {} } as ObjectSchema);
    expect(properties).toMatchObject({ a: { $ref: '#/$defs/_part_1' }, b: { type: 'string' } });
    expect($defs).toMatchObject({ part_1: { type: 'null' }, _part_1: { type: 'string' } });
  });

  it('says what was changed', () => {
    expect(top({ type: 'string' }).problems).toEqual([
      { server: '', tool: 't', kind: 'simplified', message: expect.stringContaining('type string') },
    ]);
    expect(top({ type: 'object', anyOf: [{}] }).problems[0]?.message).toContain('alternatives at the top');
  });
});

describe('what is not valid JSON Schema', () => {
  it('is mended or left out, and said', () => {
    const { definitions, problems } = toDefinitions(
      [
        {
          name: 't',
          inputSchema: {
            type: 'object',
            properties: {
              tuple: { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } },
              above: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
              old: { type: 'string', required: true },
              odd: { type: 'any', enum: [], minLength: -1, pattern: '(', description: 5 },
              none: 7,
              lost: { $ref: '#/nowhere' },
            },
            required: ['above', 'above'],
            anyOf: [],
          },
        },
      ],
      { format: 'anthropic' },
    );
    expect(definitions[0]?.input_schema).toEqual({
      type: 'object',
      properties: {
        tuple: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
        above: { type: 'number', exclusiveMinimum: 0, maximum: 9 },
        old: { type: 'string' },
        odd: {},
        lost: {},
      },
      required: ['above'],
    });
    expect(problems).toEqual([
      { server: '', tool: 't', kind: 'simplified', message: expect.stringContaining('properties.old.required') },
    ]);
    expect(problems[0]?.message).toContain('#/nowhere');
  });
});

describe('what OpenAPI calls nullable', () => {
  const property = (schema: object): unknown =>
    schemaFor({ type: 'object', properties: { p: schema }, required: ['p'] }).parameters.properties.p;

  it.each([
    ['a type', { type: 'string', nullable: true }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [
      'an enum without null',
      { enum: ['a'], nullable: true, title: 'T' },
      { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }], title: 'T' },
    ],
    ['an enum with null', { enum: ['a', null], nullable: true }, { type: ['string', 'null'], enum: ['a', null] }],
    ['a type that says so', { type: ['string', 'null'], nullable: true }, { type: ['string', 'null'] }],
    ['what is not', { type: 'string', nullable: false }, { type: 'string' }],
  ])('is null in strict mode, for %s', (_what, schema, expected) => {
    expect(property(schema)).toEqual(expected);
  });

  it('does not let a null through that validators refuse, where it can be left out', () => {
    const inputSchema = { type: 'object', properties: { p: { type: 'string', nullable: true } } };
    for (const format of ['openai-chat', 'gemini'] as const) {
      const { readCall } = toDefinitions([{ name: 't', inputSchema }], { format });
      expect(readCall({ name: 't', arguments: { p: 'x' } })?.arguments).toEqual({ p: 'x' });
    }
    const { readCall } = toDefinitions([{ name: 't', inputSchema }], { format: 'gemini' });
    expect(readCall({ name: 't', arguments: { p: null } })?.arguments).toEqual({});
  });
});

describe('an object of anything', () => {
  const make = (inputSchema: unknown, options: { format: 'anthropic' | 'openai-chat' }) =>
    toDefinitions([{ name: 't', inputSchema }], { ...options, strict: true });

  it.each([['anthropic'], ['openai-chat']] as const)('is not closed by strict mode of %s, which is said', (format) => {
    const { definitions, problems } = make({ type: 'object' }, { format });
    expect(problems).toEqual([
      {
        server: '',
        tool: 't',
        kind: 'not-strict',
        message: 'It is not strict: it allows properties that are not listed.',
      },
    ]);
    expect(JSON.stringify(definitions)).toContain('"additionalProperties":true');
    expect(JSON.stringify(definitions)).not.toContain('"strict"');
  });

  it.each([[undefined], [{ type: 'object', properties: {} }], [{ type: 'object', additionalProperties: false }]])(
    'is not what %j says: that takes nothing, strictly',
    (inputSchema) => {
      expect(make(inputSchema, { format: 'openai-chat' })).toMatchObject({
        definitions: [{ function: { strict: true, parameters: { properties: {}, additionalProperties: false } } }],
        problems: [],
      });
    },
  );

  it('is said where Gemini has no way to write it', () => {
    const free = [{ name: 't', inputSchema: { type: 'object', additionalProperties: { type: 'string' } } }];
    expect(toDefinitions(free, { format: 'gemini', parameters: 'open-api' }).problems).toMatchObject([
      { kind: 'simplified', message: expect.stringContaining('properties of any name') },
    ]);
    expect(toDefinitions(free, { format: 'gemini' }).problems).toEqual([]);
  });
});

describe('schemas are rewritten for Gemini', () => {
  const gemini = (property: unknown, parameters: 'json-schema' | 'open-api' = 'json-schema') => {
    const inputSchema = { type: 'object', properties: { p: property }, $defs: { d: { type: 'string' } } };
    const { definitions } = toDefinitions([{ name: 't', inputSchema }], { format: 'gemini', parameters });
    expect(geminiTools(definitions)).toEqual([]);
    const [made] = definitions[0]?.functionDeclarations ?? [];
    return parameters === 'open-api' ? made?.parameters?.properties?.p : made?.parametersJsonSchema?.properties.p;
  };

  it.each([
    ['constants become enums', { const: 'x' }, { type: 'string', enum: ['x'] }],
    ['other constants become words', { const: true }, { type: 'boolean', description: 'Always true.' }],
    [
      'other enums become words',
      { type: ['boolean', 'string'], enum: ['a', true] },
      { type: ['boolean', 'string'], description: 'One of "a", true.' },
    ],
    [
      'null leaves an enum and stands beside it',
      { type: ['string', 'null'], enum: ['a', 'b', null], description: 'D' },
      { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], description: 'D' },
    ],
    ['also without a type', { enum: ['a', null] }, { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] }],
    ['null alone stays', { type: 'null', enum: [null] }, { type: 'null', description: 'One of null.' }],
    [
      'oneOf stays',
      { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    ],
    [
      'patterns become words',
      { type: 'string', pattern: '^a', maxLength: 5 },
      { type: 'string', description: '(<=5 chars, /^a/)' },
    ],
    [
      'patterns of names become other names',
      { type: 'object', patternProperties: { '^x': { type: 'string' } }, additionalProperties: false },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    [
      'names that are required are described',
      { type: 'object', required: ['a'] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
    [
      'tuples stay',
      { type: 'array', prefixItems: [{ type: 'string' }] },
      { type: 'array', prefixItems: [{ type: 'string' }], items: {} },
    ],
  ])('as JSON Schema: %s', (_what, property, expected) => {
    expect(gemini(property)).toEqual(expected);
  });

  it.each([
    [
      'types become alternatives',
      { type: ['string', 'integer', 'null'], description: 'D' },
      {
        anyOf: [
          { type: 'STRING', description: 'D', nullable: true },
          { type: 'INTEGER', nullable: true },
        ],
      },
    ],
    [
      'null becomes a mark',
      { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'D' },
      { type: 'INTEGER', nullable: true, description: 'D' },
    ],
    ['references are written out', { $ref: '#/$defs/d' }, { type: 'STRING' }],
    [
      'numbers in an enum become words',
      { type: 'integer', enum: [1, 2] },
      { type: 'INTEGER', description: 'One of 1, 2.' },
    ],
    [
      'null leaves an enum and becomes a mark',
      { type: ['string', 'null'], enum: ['a', 'b', null], description: 'D' },
      { type: 'STRING', enum: ['a', 'b'], nullable: true, description: 'D' },
    ],
    ['nullable stays', { type: 'string', nullable: true }, { type: 'STRING', nullable: true }],
    [
      'nullable stays beside a reference',
      { allOf: [{ $ref: '#/$defs/d' }], nullable: true, description: 'D' },
      { type: 'STRING', nullable: true, description: 'D' },
    ],
    ['an empty text leaves an enum', { enum: ['', 'a'] }, { type: 'STRING', enum: ['a'] }],
    ['only null', { type: 'null' }, { type: 'STRING', nullable: true }],
    [
      'free names become words',
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'OBJECT', description: 'Any property names, each value string.' },
    ],
    [
      'tuples become lists',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'string' }] },
      { type: 'ARRAY', items: { type: 'STRING' }, description: '2 items, in this order: string, string.' },
    ],
    [
      'formats stay where they are known',
      { type: 'string', format: 'date-time' },
      { type: 'STRING', format: 'date-time' },
    ],
    ['and limits', { type: 'integer', minimum: 1, maximum: 9 }, { type: 'INTEGER', minimum: 1, maximum: 9 }],
  ])('as OpenAPI: %s', (_what, property, expected) => {
    expect(gemini(property, 'open-api')).toEqual(expected);
  });

  it('what may be anything is one of the types', () => {
    expect(gemini({ description: 'D' }, 'open-api')).toMatchObject({
      anyOf: [{ type: 'STRING', description: 'D' }, {}, {}, {}, { type: 'ARRAY' }],
    });
  });

  it('a schema that refers to itself is written out a few times', () => {
    const inputSchema = {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/tree' } },
      $defs: {
        tree: {
          type: 'object',
          properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
        },
      },
    };
    for (const parameters of ['json-schema', 'open-api'] as const) {
      const { definitions, problems } = toDefinitions([{ name: 't', inputSchema }], { format: 'gemini', parameters });
      expect(geminiTools(definitions)).toEqual([]);
      expect(JSON.stringify(definitions).match(/children/g)?.length).toBe(2);
      expect(problems[0]?.message).toContain('refers to itself');
    }
  });
});
