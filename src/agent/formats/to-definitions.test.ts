import { asSchema, type Tool } from '@ai-sdk/provider-utils';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import {
  aiSdkTools,
  anthropicTools,
  geminiTools,
  langChainTools,
  openAiChatTools,
  openAiResponsesTools,
} from '../../../test/api-rules.ts';
import type { AnthropicTool, DescribedTool } from './definition-types.ts';
import { anthropicToolSearch, openAiToolSearch, toToolReferences } from './hosted-search.ts';
import { createNameTable } from './names.ts';
import type { LangChainToolMessage } from './result-types.ts';
import { toDefinitions } from './to-definitions.ts';
import type {
  AnthropicToolUse,
  FormatOf,
  GeminiFunctionCall,
  GeminiFunctionCallPart,
  LangChainToolCall,
  OpenAiFunctionCall,
  OpenAiToolCall,
} from './tool-call.ts';

const ISSUE: DescribedTool = {
  server: 'github',
  name: 'create_issue',
  description: 'Create an issue',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'https://example.org/issue',
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 1 },
      state: { enum: ['open', 'closed'] },
      labels: { type: 'array', items: { $ref: '#/definitions/label' } },
    },
    required: ['title'],
    definitions: { label: { type: 'string', description: 'A label' } },
  },
};
describe('definitions', () => {
  it('for Anthropic keep the schema, without $schema and $id', () => {
    const { definitions, problems } = toDefinitions([ISSUE], { format: 'anthropic', deferLoading: true });
    const { $schema: _schema, $id: _id, ...kept } = ISSUE.inputSchema as Record<string, unknown>;
    expect(definitions).toEqual([
      { name: 'github__create_issue', description: 'Create an issue', input_schema: kept, defer_loading: true },
    ]);
    expect(problems).toEqual([]);
  });

  it('for Anthropic in strict mode are closed, and say in words what the mode does not know', () => {
    const { definitions } = toDefinitions([ISSUE], { format: 'anthropic', strict: true });
    expect(definitions).toEqual([
      {
        name: 'github__create_issue',
        description: 'Create an issue',
        strict: true,
        input_schema: {
          type: 'object',
          properties: {
            title: { type: 'string', description: '(>=1 chars)' },
            state: { type: 'string', enum: ['open', 'closed'] },
            labels: { type: 'array', items: { $ref: '#/$defs/label' } },
          },
          required: ['title'],
          additionalProperties: false,
          $defs: { label: { type: 'string', description: 'A label' } },
        },
      },
    ]);
  });

  it('for OpenAI in strict mode require everything, with null for what may be left out', () => {
    const { definitions } = toDefinitions([ISSUE], { format: 'openai-chat', strict: true });
    expect(definitions[0]?.function.strict).toBe(true);
    expect(definitions[0]?.function.parameters).toEqual({
      type: 'object',
      properties: {
        title: { type: 'string', description: '(>=1 chars)' },
        state: { type: ['string', 'null'], enum: ['open', 'closed', null] },
        labels: { type: ['array', 'null'], items: { $ref: '#/$defs/label' } },
      },
      required: ['title', 'state', 'labels'],
      additionalProperties: false,
      $defs: { label: { type: 'string', description: 'A label' } },
    });
  });

  it('for OpenAI Responses are flat, and grouped by server where namespaces are wanted', () => {
    const tools = [ISSUE, { server: 'git hub', name: 'create_issue' }, { name: 'own' }];
    const flat = toDefinitions(tools, {
      format: 'openai-responses',
      deferLoading: ({ server }) => server === 'github',
    });
    expect(flat.definitions.map((tool) => tool.name)).toEqual(['github__create_issue', 'git_hub__create_issue', 'own']);
    expect(flat.definitions.map((tool) => 'defer_loading' in tool)).toEqual([true, false, false]);
    const grouped = toDefinitions(tools, {
      format: 'openai-responses',
      namespaces: (server) => (server === 'github' ? 'Issues and pull requests' : undefined),
    });
    expect(grouped.definitions).toMatchObject([
      { type: 'namespace', name: 'github', description: 'Issues and pull requests', tools: [{ name: 'create_issue' }] },
      { type: 'namespace', name: 'git_hub', description: 'Tools of git hub', tools: [{ name: 'create_issue' }] },
      { type: 'function', name: 'own', strict: false, parameters: { type: 'object', properties: {} } },
    ]);
    expect(grouped.readCall({ namespace: 'git_hub', name: 'create_issue', arguments: '{"title":"x"}' })).toEqual({
      server: 'git hub',
      tool: 'create_issue',
      arguments: { title: 'x' },
    });
    expect(grouped.readCall({ name: 'create_issue' })).toBeUndefined();
  });

  it('for Gemini are JSON Schema, or OpenAPI where that is wanted', () => {
    const json = toDefinitions([ISSUE], { format: 'gemini' });
    expect(json.definitions[0]?.functionDeclarations[0]?.parametersJsonSchema).toEqual({
      type: 'object',
      properties: {
        title: { type: 'string', description: '(>=1 chars)' },
        state: { type: 'string', enum: ['open', 'closed'] },
        labels: { type: 'array', items: { $ref: '#/$defs/label' } },
      },
      required: ['title'],
      $defs: { label: { type: 'string', description: 'A label' } },
    });
    const openApi = toDefinitions([ISSUE], { format: 'gemini', parameters: 'open-api' });
    expect(openApi.definitions).toEqual([
      {
        functionDeclarations: [
          {
            name: 'github__create_issue',
            description: 'Create an issue',
            parameters: {
              type: 'OBJECT',
              properties: {
                title: { type: 'STRING', minLength: '1' },
                state: { type: 'STRING', enum: ['open', 'closed'] },
                labels: { type: 'ARRAY', items: { type: 'STRING', description: 'A label' } },
              },
              required: ['title'],
            },
          },
        ],
      },
    ]);
    expect(toDefinitions([{ name: 'none' }], { format: 'gemini', parameters: 'open-api' }).definitions).toEqual([
      { functionDeclarations: [{ name: 'none', description: 'none' }] },
    ]);
    expect(toDefinitions([], { format: 'gemini' }).definitions).toEqual([]);
  });

  it('for the AI SDK are tools it knows, which call and show pictures', async () => {
    const execute = vi.fn(async () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }));
    const { definitions } = toDefinitions([{ ...ISSUE, title: 'Issue' }], { format: 'ai-sdk', execute });
    const tools: Record<string, Tool> = definitions;
    const tool = definitions.github__create_issue;
    expect(await asSchema(tools.github__create_issue?.inputSchema).jsonSchema).toMatchObject({ required: ['title'] });
    const output = await tool?.execute?.({ title: 'x' }, { toolCallId: '1' });
    expect(execute).toHaveBeenCalledWith(
      { server: 'github', tool: 'create_issue', arguments: { title: 'x' } },
      { toolCallId: '1' },
    );
    const shown = { type: 'content', value: [{ type: 'image-data', data: 'aGk=', mediaType: 'image/png' }] };
    expect(tool?.toModelOutput(output)).toEqual(shown);
    expect(tool?.toModelOutput({ toolCallId: '1', input: {}, output })).toEqual(shown);
    expect(tool?.toModelOutput('plain')).toEqual({ type: 'text', value: 'plain' });
    expect(toDefinitions([ISSUE], { format: 'ai-sdk' }).definitions.github__create_issue?.execute).toBeUndefined();
  });

  it('for LangChain have a name, a description and a schema', () => {
    const { definitions } = toDefinitions([{ name: 'now', title: 'What time it is' }], { format: 'langchain' });
    expect(definitions).toEqual([
      { name: 'now', description: 'What time it is', schema: { type: 'object', properties: {} } },
    ]);
  });

  it('take the names of a given table, and leave out what it does not know', () => {
    const names = createNameTable([{ server: 'github', name: 'create_issue' }]);
    const { definitions, problems } = toDefinitions([ISSUE, { server: 'x', name: 'y' }, ISSUE], {
      format: 'langchain',
      names,
    });
    expect(definitions.map(({ name }) => name)).toEqual(['github__create_issue']);
    expect(problems.map(({ tool, message }) => [tool, message])).toEqual([
      ['y', 'It is not in the table of names.'],
      ['create_issue', 'It is listed twice.'],
    ]);
  });

  it('refuse a format that does not exist, which only a program can ask for', () => {
    expect(() => toDefinitions([], { format: 'claude' as 'anthropic' })).toThrow('There is no format "claude"');
  });

  it('refuse an option that does not exist, and say which one was meant', () => {
    const ask = (options: object) => () => toDefinitions([], options as { format: 'anthropic' });
    expect(ask({ format: 'anthropic', defer_loading: true })).toThrow(
      'The format "anthropic" has no "defer_loading". Did you mean "deferLoading"?',
    );
    expect(ask({ format: 'gemini', strict: true })).toThrow(
      'The format "gemini" has no "strict". It has format, names, parameters.',
    );
    expect(ask({ format: 'langchain', strict: undefined })).not.toThrow();
  });

  it('say when there are more than OpenAI Chat Completions takes, and leave the choice to the program', () => {
    const many = Array.from({ length: 129 }, (_, at) => ({ name: `t${at}` }));
    const { definitions, problems } = toDefinitions(many, { format: 'openai-chat' });
    expect(definitions).toHaveLength(129);
    expect(openAiChatTools(definitions)).toEqual(['129 tools']);
    expect(problems).toEqual([
      { server: '', tool: '', kind: 'too-many', message: expect.stringContaining('129 tools') },
    ]);
    expect(toDefinitions(many.slice(1), { format: 'openai-chat' }).problems).toEqual([]);
  });
});

describe('a tool that cannot be defined', () => {
  it.each([
    [
      'a reference to outside',
      { properties: { a: { $ref: 'https://example.org/a.json' } } },
      'https://example.org/a.json',
    ],
    ['a list', [], 'not an object'],
    ['a text', 'string', 'not an object'],
    [
      'a schema in itself',
      (() => {
        const own: Record<string, unknown> = {};
        own.not = own;
        return own;
      })(),
      'levels deep',
    ],
    ['too many values', { enum: Array.from({ length: 100_001 }, (_, at) => at) }, 'too big'],
    ['too much text', { description: 'x'.repeat(2_000_001) }, 'too big'],
    [
      'a trap',
      {
        get type(): string {
          throw new Error('no');
        },
      },
      'cannot be read',
    ],
  ])('is left out and said: %s', (_what, inputSchema, reason) => {
    const { definitions, problems } = toDefinitions([{ server: 's', name: 't', inputSchema }, ISSUE], {
      format: 'anthropic',
    });
    expect(definitions.map(({ name }) => name)).toEqual(['github__create_issue']);
    expect(problems).toEqual([{ server: 's', tool: 't', kind: 'left-out', message: expect.stringContaining(reason) }]);
  });

  it('is left out when it has no name', () => {
    const { definitions, problems } = toDefinitions([{} as DescribedTool, null as never], { format: 'anthropic' });
    expect(definitions).toEqual([]);
    expect(problems).toHaveLength(2);
  });
});

describe('a call is read back', () => {
  it('without the nulls that strict mode asks for', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'string' },
        maybe: { type: ['string', 'null'] },
        list: { type: 'array', items: { $ref: '#/$defs/point' } },
        either: { anyOf: [{ $ref: '#/$defs/point' }, { type: 'string' }] },
        both: { allOf: [{ $ref: '#/$defs/point' }] },
      },
      required: ['a'],
      $defs: {
        point: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x'] },
      },
    };
    const { readCall, definitions } = toDefinitions([{ server: 's', name: 't', inputSchema }], {
      format: 'openai-chat',
      strict: true,
    });
    expect(definitions[0]?.function.strict).toBe(true);
    const point = { x: 1, y: null };
    const args = { a: null, b: null, maybe: null, list: [point], either: point, both: point, other: null };
    expect(readCall({ name: 's__t', arguments: JSON.stringify(args) })).toEqual({
      server: 's',
      tool: 't',
      arguments: { a: null, maybe: null, list: [{ x: 1 }], either: { x: 1 }, both: { x: 1 }, other: null },
    });
  });

  it('with the tool’s own names of parameters', () => {
    const inputSchema = {
      type: 'object',
      properties: {
        'user-id': { type: 'string' },
        user_id: { type: 'string' },
        $filter: { $ref: '#/properties/user-id' },
        ok: {},
      },
      required: ['user-id'],
    };
    const tools = [{ name: 't', inputSchema }];
    const gemini = toDefinitions(tools, { format: 'gemini' });
    expect(geminiTools(gemini.definitions)).toEqual([]);
    const schema = gemini.definitions[0]?.functionDeclarations[0]?.parametersJsonSchema;
    const [id = '', , filter = ''] = Object.keys(schema?.properties ?? {});
    expect(schema?.required).toEqual([id]);
    expect(gemini.readCall({ name: 't', arguments: { [id]: '1', user_id: '2', [filter]: '3' } })?.arguments).toEqual({
      'user-id': '1',
      user_id: '2',
      $filter: '3',
    });
    const anthropic = toDefinitions(tools, { format: 'anthropic' });
    expect(anthropicTools(anthropic.definitions)).toEqual([]);
    expect(Object.keys((anthropic.definitions[0] as AnthropicTool).input_schema.properties)).toEqual([
      'user-id',
      'user_id',
      '_filter',
      'ok',
    ]);
    expect(anthropic.readCall({ name: 't', arguments: { _filter: 'x' } })?.arguments).toEqual({ $filter: 'x' });
  });

  it('and references into a renamed parameter follow it', () => {
    const inputSchema = {
      type: 'object',
      properties: { 'a b': { type: 'string' }, c: { $ref: '#/properties/a%20b' } },
    };
    const { definitions } = toDefinitions([{ name: 't', inputSchema }], { format: 'anthropic' });
    expect(definitions[0]?.input_schema.properties).toEqual({
      a_b: { type: 'string' },
      c: { $ref: '#/properties/a_b' },
    });
  });

  it('and says when the model wrote no arguments', () => {
    const { readCall } = toDefinitions([ISSUE], { format: 'openai-chat' });
    expect(readCall({ name: 'github__create_issue', arguments: '{"title":' })).toEqual({
      server: 'github',
      tool: 'create_issue',
      arguments: {},
      invalid:
        'The arguments of github__create_issue are not valid JSON: Unexpected end of JSON input. They end too early, probably because the model reached its token limit.',
    });
    const invalid = (args: unknown) => readCall({ name: 'github__create_issue', arguments: args })?.invalid;
    expect(invalid('{"title":"a')).toContain('They end too early');
    expect(invalid('{title:"a"}')).toMatch(/are not valid JSON: [^.]*\.$/);
    expect(invalid('[1]')).toBe('The arguments of github__create_issue must be a JSON object.');
    expect(invalid(5)).toBe('The arguments of github__create_issue must be a JSON object.');
    expect(invalid(`{"a":${'['.repeat(300)}${']'.repeat(300)}}`)).toContain('are nested too deep');
    expect(readCall({ name: 'github__create_issue', arguments: '' })?.arguments).toEqual({});
    expect(readCall({ name: 'constructor' })).toBeUndefined();
  });
});

describe('tool search', () => {
  it('of Anthropic gets references to deferred tools, without those it does not know', () => {
    const broken = { server: 's', name: 'broken', inputSchema: [] };
    const defined = toDefinitions([ISSUE, broken], { format: 'anthropic', deferLoading: true });
    const hits = [
      { server: 'github', tool: 'create_issue' },
      { server: 'github', tool: 'create_issue' },
      { server: 's', tool: 'broken' },
      { server: 's', tool: 'unknown' },
    ];
    expect(toToolReferences(hits, defined)).toEqual([{ type: 'tool_reference', tool_name: 'github__create_issue' }]);
  });

  it('has an entry of its own among the tools', () => {
    expect(anthropicToolSearch()).toEqual({ type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' });
    expect(anthropicToolSearch('regex').name).toBe('tool_search_tool_regex');
    expect(openAiToolSearch()).toEqual({ type: 'tool_search' });
  });
});

describe('the checkers', () => {
  const raw = { type: 'object', properties: { a: { type: 'array' } }, anyOf: [{}] };
  it('refuse what the APIs refuse', () => {
    expect(anthropicTools([{ name: 'a.b', input_schema: raw }])).toHaveLength(2);
    expect(
      openAiChatTools([{ type: 'function', function: { name: 'a', parameters: raw, strict: true } }]).length,
    ).toBeGreaterThan(3);
    expect(
      openAiResponsesTools([{ type: 'function', name: 'a', parameters: { type: 'object', properties: {} } }]),
    ).toEqual(['strict']);
    expect(
      geminiTools([
        { functionDeclarations: [{ name: '1', description: '', parameters: { type: 'object', properties: {} } }] },
      ]),
    ).toHaveLength(4);
    expect(langChainTools([{ name: 'a', schema: {} }]).length).toBeGreaterThan(1);
    expect(aiSdkTools({ a: { inputSchema: { jsonSchema: { $ref: '#/x' } } } }).length).toBeGreaterThan(1);
  });
});

describe('types', () => {
  it('do not compile where a format, an option or a shape is wrong', () => {
    const wrong = () => {
      // @ts-expect-error there is no such format
      toDefinitions([], { format: 'claude' });
      // @ts-expect-error an option is misspelt
      toDefinitions([], { format: 'anthropic', deferloading: true });
      // @ts-expect-error LangChain has no strict mode
      toDefinitions([], { format: 'langchain', strict: true });
      // @ts-expect-error namespaces belong to OpenAI Responses
      toDefinitions([], { format: 'openai-chat', namespaces: true });
      // @ts-expect-error a tool has a name
      toDefinitions([{ server: 's' }], { format: 'anthropic' });
      // @ts-expect-error the type follows the format
      const tools: AnthropicTool[] = toDefinitions([], { format: 'openai-chat' }).definitions;
      return tools;
    };
    const right: AnthropicTool[] = toDefinitions([], { format: 'anthropic' }).definitions;
    expect([wrong.length, right]).toEqual([0, []]);
  });

  it('share nothing with the tools they were made of', () => {
    const before = structuredClone(ISSUE);
    for (const format of ['anthropic', 'openai-chat', 'gemini', 'langchain'] as const) {
      const { definitions } = toDefinitions([ISSUE], { format });
      deepen(definitions);
      expect(ISSUE).toEqual(before);
    }
  });

  it('know the format of a call by its type, also where LangChain says it may be missing', () => {
    expectTypeOf<FormatOf<AnthropicToolUse>>().toEqualTypeOf<'anthropic'>();
    expectTypeOf<FormatOf<OpenAiToolCall | OpenAiFunctionCall>>().toEqualTypeOf<'openai-chat' | 'openai-responses'>();
    expectTypeOf<FormatOf<GeminiFunctionCall>>().toEqualTypeOf<'gemini'>();
    expectTypeOf<FormatOf<GeminiFunctionCallPart>>().toEqualTypeOf<'gemini'>();
    expectTypeOf<FormatOf<{ id?: string; name?: string; args?: Record<string, unknown> }>>().toEqualTypeOf<'gemini'>();
    expectTypeOf<FormatOf<LangChainToolCall>>().toEqualTypeOf<'langchain'>();
    type Loose = { name: string; args: Record<string, unknown>; id?: string; type?: 'tool_call' };
    expectTypeOf<FormatOf<Loose>>().toEqualTypeOf<'langchain'>();
    expectTypeOf<LangChainToolMessage>().toExtend<Record<string, unknown>>();
  });

  it('do not look at schemas for strict mode once a request to Anthropic is full', () => {
    const tools = Array.from({ length: 22 }, (_, at) => ({
      name: `t${at}`,
      inputSchema: { properties: at < 21 ? {} : { a: {} } },
    }));
    const { definitions, problems } = toDefinitions(tools, { format: 'anthropic', strict: true });
    expect(definitions.filter(({ strict }) => strict)).toHaveLength(20);
    expect(problems.map(({ tool, message }) => [tool, message])).toEqual([
      ['t20', 'It is not strict: a request may contain at most 20 strict tools.'],
      ['t21', 'It is not strict: a request may contain at most 20 strict tools.'],
    ]);
  });
});

/** Changes every object in a value. */
function deepen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) deepen(inner);
  if (Array.isArray(value)) value.push('changed');
  else Object.assign(value, { changed: true });
}
