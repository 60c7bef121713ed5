import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropicTools, geminiTools, openAiChatTools, openAiResponsesTools } from '../../test/api-rules.ts';
import type { LangChainToolMessage } from '../agent/formats/result-types.ts';
import { type AnyToolCall, readToolCall } from '../agent/formats/tool-call.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { DiscoveryEngine } from './discovery-engine.ts';

let server: TestServer;
let tools: DiscoveryEngine;

beforeAll(async () => {
  server = await startTestServer({
    tools: {
      greet: {
        description: 'Greet somebody',
        inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        call: ({ name }) => `Hello, ${name}!`,
      },
      draw: { call: () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }) },
    },
  });
  tools = new DiscoveryEngine({ servers: [{ name: 'greeter', connection: server.connection }] });
});
afterAll(async () => {
  await tools.close();
  await server.close();
});

const CALL = { server: 'greeter', tool: 'greet', arguments: { name: 'Ada' } };
const execute = (args: object = CALL) =>
  ({
    anthropic: { type: 'tool_use', id: 'id_1', name: 'execute_tool', input: args },
    'openai-chat': {
      type: 'function',
      id: 'id_1',
      function: { name: 'execute_tool', arguments: JSON.stringify(args) },
    },
    'openai-responses': {
      type: 'function_call',
      call_id: 'id_1',
      name: 'execute_tool',
      arguments: JSON.stringify(args),
    },
    gemini: { functionCall: { id: 'id_1', name: 'execute_tool', args: args as Record<string, unknown> } },
    'ai-sdk': { type: 'tool-call', toolCallId: 'id_1', toolName: 'execute_tool', input: args },
    langchain: { type: 'tool_call', id: 'id_1', name: 'execute_tool', args: args as Record<string, unknown> },
  }) as const;

describe('the five meta-tools', () => {
  it('are defined in every format, in the order of the contract', () => {
    const mode = 'search';
    const anthropic = tools.tools({ mode });
    expect(anthropic.map(({ name }) => name)).toEqual(META_TOOL_NAMES);
    expect(anthropic[0]?.description).toContain('greeter');
    expect(anthropicTools(anthropic)).toEqual([]);
    expect(openAiChatTools(tools.tools({ format: 'openai-chat', mode }))).toEqual([]);
    expect(geminiTools(tools.tools({ format: 'gemini', mode }))).toEqual([]);
    const strict = tools.tools({ format: 'openai-responses', mode, strict: true });
    expect(openAiResponsesTools(strict)).toEqual([]);
    // The arguments of execute_tool may hold anything.
    const loose = strict.filter((tool) => tool.type === 'function' && !tool.strict).map(({ name }) => name);
    expect(loose).toEqual(['execute_tool']);
    expect(Object.keys(tools.tools({ format: 'ai-sdk', mode }))).toEqual(META_TOOL_NAMES);
  });

  it('answer a call in the shape of the API that made it', async () => {
    const calls = execute();
    expect(await tools.handle(calls.anthropic)).toEqual({
      type: 'tool_result',
      tool_use_id: 'id_1',
      content: [{ type: 'text', text: 'Hello, Ada!' }],
    });
    expect(await tools.handle(calls['openai-chat'])).toEqual({
      role: 'tool',
      tool_call_id: 'id_1',
      content: 'Hello, Ada!',
    });
    expect(await tools.handle(calls['openai-responses'])).toEqual({
      type: 'function_call_output',
      call_id: 'id_1',
      output: 'Hello, Ada!',
    });
    const gemini = { id: 'id_1', name: 'execute_tool', response: { output: 'Hello, Ada!' } };
    expect(await tools.handle(calls.gemini)).toEqual({ functionResponse: gemini });
    expect(await tools.handle(calls.gemini.functionCall)).toEqual({ functionResponse: gemini });
    expect(await tools.handle(calls['ai-sdk'])).toEqual({
      type: 'tool-result',
      toolCallId: 'id_1',
      toolName: 'execute_tool',
      output: { type: 'text', value: 'Hello, Ada!' },
    });
    expect(await tools.handle(calls.langchain)).toMatchObject({
      role: 'tool',
      tool_call_id: 'id_1',
      status: 'success',
    });
  });

  it('search, with the nulls of strict mode', async () => {
    const args = JSON.stringify({ query: 'greet', server: null, limit: null });
    const { output } = await tools.handle({
      type: 'function_call',
      call_id: '1',
      name: 'search_tools',
      arguments: args,
    });
    expect(JSON.parse(String(output)).results[0]).toMatchObject({ server: 'greeter', tool: 'greet' });
  });

  it('send pictures only to models that take them', async () => {
    const call = execute({ server: 'greeter', tool: 'draw', arguments: {} }).anthropic;
    expect((await tools.handle(call)).content[0]).toMatchObject({ type: 'image' });
    expect((await tools.handle(call, { media: false })).content[0]).toMatchObject({ type: 'text' });
  });

  it.each([
    ['an unknown tool', { type: 'tool_use', id: '1', name: 'nope', input: {} }, 'TOOL_NOT_FOUND'],
    [
      'bad arguments',
      { type: 'tool_use', id: '1', name: 'search_tools', input: { query: 5 } },
      'TOOL_VALIDATION_ERROR',
    ],
    [
      'arguments that are no JSON',
      { type: 'tool_use', id: '1', name: 'search_tools', input: '{' },
      'TOOL_VALIDATION_ERROR',
    ],
  ] as const)('answer %s with an error the model can read', async (_what, call, code) => {
    const result = await tools.handle(call);
    expect(result.is_error).toBe(true);
    expect(JSON.stringify(result.content)).toContain(code);
  });

  it('report truncated arguments, and accept missing ones', async () => {
    const search = (args: string) =>
      tools.handle({ type: 'function_call', call_id: '1', name: 'search_tools', arguments: args });
    expect((await search('{"query":"gr')).output).toContain('They end too early');
    const list = { type: 'function_call', call_id: '1', name: 'list_mcp_servers', arguments: '' } as const;
    expect((await tools.handle(list)).output).toContain('greeter');
  });

  it('answer every call, whatever a model writes', async () => {
    const names = fc.oneof(
      fc.constantFrom(...META_TOOL_NAMES, 'greet', 'greeter__greet', 'greeter:greet'),
      fc.string({ minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(names, fc.oneof(fc.jsonValue(), fc.string()), async (name, input) => {
        const answer = await tools.handle({ type: 'tool_use', id: '1', name, input });
        expect(answer).toMatchObject({ type: 'tool_result', tool_use_id: '1' });
      }),
      { numRuns: 200 },
    );
  });

  it('come with execute for the AI SDK', async () => {
    await tools.ready({ waitMs: 20_000 });
    const options = { toolCallId: '1' };
    const { search_tools: search } = tools.tools({ format: 'ai-sdk', mode: 'search' });
    expect(JSON.stringify(await search?.execute?.({ query: 'greet' }, options))).toContain('greeter');
    const { greeter__greet: greet } = tools.tools({ format: 'ai-sdk', mode: 'all' });
    expect(await greet?.execute?.({ name: 'Ada' }, options)).toMatchObject({ content: [{ text: 'Hello, Ada!' }] });
    const abortSignal = AbortSignal.abort();
    expect(JSON.stringify(await greet?.execute?.({ name: 'Ada' }, { ...options, abortSignal }))).toContain('CANCELLED');
  });

  it('answer a call that was cancelled', async () => {
    const result = await tools.handle(execute().anthropic, { signal: AbortSignal.abort() });
    expect(JSON.stringify(result)).toContain('CANCELLED');
  });
});

describe('a call', () => {
  it.each(Object.entries(execute()))('of %s is read', (format, call) => {
    expect(readToolCall(call)).toMatchObject({ format, id: 'id_1', name: 'execute_tool' });
  });

  it.each([[undefined], ['text'], [{}], [{ type: 'tool_use' }], [{ functionCall: undefined }], [{ type: 'function' }]])(
    'that is none is a mistake of the program: %j',
    (call) => {
      expect(() => readToolCall(call as unknown as AnyToolCall)).toThrow('not a tool call');
    },
  );

  it.each([
    [{ type: 'server_tool_use', id: '1', name: 'execute_tool', input: {} }],
    [{ type: 'mcp_call', id: '1', name: 'execute_tool', arguments: '{}' }],
    [{ type: 'custom', id: '1', custom: { name: 'execute_tool', input: 'x' } }],
  ])('that the API executes itself is not accepted: %j', async (call) => {
    const foreign = call as unknown as AnyToolCall;
    expect(() => readToolCall(foreign)).toThrow(`its type is "${call.type}"`);
    expect(() => readToolCall(foreign, { format: 'anthropic' })).toThrow('not a tool call');
    await expect(tools.handle(foreign)).rejects.toThrow('not a tool call');
  });

  it.each([
    [{ type: 'tool_use', name: 'execute_tool', input: {} }],
    [{ type: 'tool_use', id: '', name: 'execute_tool', input: {} }],
    [{ type: 'function', function: { name: 'execute_tool', arguments: '{}' } }],
    [{ type: 'function_call', name: 'execute_tool', arguments: '{}' }],
    [{ type: 'tool-call', toolName: 'execute_tool', input: {} }],
  ])('without an id is refused, because it could not be answered: %j', (call) => {
    expect(() => readToolCall(call as unknown as AnyToolCall)).toThrow('no id');
  });

  it('of ambiguous shape is read in the format that the caller names', async () => {
    const call = { name: 'execute_tool', id: 'c1', args: CALL };
    expect(readToolCall(call)).toMatchObject({ format: 'gemini' });
    expect(readToolCall(call, { format: 'langchain' })).toMatchObject({ format: 'langchain', id: 'c1' });
    const message: LangChainToolMessage = await tools.handle(call, { format: 'langchain' });
    expect(message).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      name: 'execute_tool',
      content: 'Hello, Ada!',
      status: 'success',
    });
    expect(() => readToolCall(execute().anthropic, { format: 'gemini' })).toThrow(
      'its format is "anthropic", not "gemini"',
    );
    expect(() => readToolCall(call, { format: 'claude' as 'anthropic' })).toThrow('There is no format "claude"');
  });

  it('of a wrong shape does not compile', () => {
    const wrong = () => {
      // @ts-expect-error a tool_use block has an id
      tools.handle({ type: 'tool_use', name: 'x', input: {} });
      // @ts-expect-error no API writes calls like this
      tools.handle({ type: 'call', name: 'x' });
      // @ts-expect-error the answer follows the call
      const answer: Promise<{ role: 'tool' }> = tools.handle(execute().anthropic);
      return answer;
    };
    expect(wrong).toBeTypeOf('function');
  });
});
