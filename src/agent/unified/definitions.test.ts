import { describe, expect, it } from 'vitest';
import { memoryLog } from '../../../test/fixtures/engine.ts';
import { memoryServers } from '../../../test/fixtures/memory-servers.ts';
import { ValidationError } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/types.ts';
import { UnifiedToolRegistry } from '../../registry.ts';
import { startTestServer } from '../../testing/index.ts';
import { TOOL_FORMATS } from '../formats/definition-types.ts';

const issue: JsonSchema = {
  type: 'object',
  properties: { title: { type: 'string' }, body: { type: 'string' } },
  required: ['title'],
};

/** A registry with one real server and one tool of its own; both remember what they were called with. */
async function open() {
  const server = await startTestServer({
    tools: {
      create_issue: { description: 'Opens an issue', inputSchema: issue, call: ({ title }) => `opened ${title}` },
    },
  });
  const registry = new UnifiedToolRegistry({
    servers: [{ name: 'github', connection: server.connection }],
    env: { HOME: '/nonexistent' },
  });
  const noted: unknown[] = [];
  registry.registerStaticTool(
    'note',
    (args) => {
      noted.push(args);
      return 'noted';
    },
    { description: 'Notes', input_schema: issue, cache_control: { type: 'ephemeral' } },
  );
  await registry.discoverAllTools();
  const close = async () => {
    await registry.close();
    await server.close();
  };
  return { registry, server, noted, [Symbol.asyncDispose]: close };
}

describe('getToolDefinitions', () => {
  it('writes each format, synchronously and sorted by name', async () => {
    await using all = await open();
    const { registry } = all;
    expect(registry.getToolDefinitions({ format: 'openai-chat' })).toMatchObject([
      { type: 'function', function: { name: 'github__create_issue', parameters: { required: ['title'] } } },
      { type: 'function', function: { name: 'note' } },
    ]);
    expect(registry.getToolDefinitions({ format: 'openai-responses', strict: true })).toMatchObject([
      { type: 'function', name: 'github__create_issue', strict: true, parameters: { required: ['title', 'body'] } },
      { type: 'function', name: 'note', strict: true },
    ]);
    expect(registry.getToolDefinitions({ format: 'gemini' })).toMatchObject([
      { functionDeclarations: [{ name: 'github__create_issue' }, { name: 'note' }] },
    ]);
    expect(Object.keys(registry.getToolDefinitions({ format: 'ai-sdk' }))).toEqual(['github__create_issue', 'note']);
    expect(registry.getToolDefinitions({ format: 'langchain' })).toMatchObject([
      { name: 'github__create_issue' },
      { name: 'note' },
    ]);
    expect(registry.getToolDefinitions({ deferLoading: true })).toMatchObject([
      { defer_loading: true },
      { defer_loading: true },
    ]);
    expect(() => registry.getToolDefinitions({ format: 'other' } as never)).toThrow(ValidationError);
  });

  it('shows what is meant for Anthropic only there', async () => {
    await using all = await open();
    for (const format of TOOL_FORMATS) {
      const text = JSON.stringify(all.registry.getToolDefinitions({ format } as never));
      expect(text.includes('ephemeral')).toBe(format === 'anthropic');
    }
  });

  it('gives the same again until something changes, and copies that may be changed', async () => {
    await using all = await open();
    const { registry } = all;
    const first = registry.getToolDefinitions({ format: 'openai-chat' });
    first.pop();
    Object.assign(first[0] ?? {}, { type: 'changed' });
    expect(registry.getToolDefinitions({ format: 'openai-chat' })).toMatchObject([{ type: 'function' }, {}]);
    registry.registerStaticTool('another', () => '', {});
    expect(registry.getToolDefinitions({ format: 'openai-chat' })).toHaveLength(3);
  });

  it('makes each definition once for as long as its tool stays', () => {
    const registry = new UnifiedToolRegistry();
    registry.registerMcpTools('a', [{ name: 'x', inputSchema: issue }]);
    const [before] = registry.getToolDefinitions();
    registry.registerMcpTools('b', [{ name: 'y', inputSchema: issue }]);
    expect(registry.getToolDefinitions()[0]?.input_schema).toBe(before?.input_schema);
    registry.registerMcpTools('a', [{ name: 'x', inputSchema: { type: 'object' } }]);
    expect(registry.getToolDefinitions()[0]?.input_schema).not.toBe(before?.input_schema);
    const { readCall } = registry.getDefinitionSet({ format: 'anthropic' });
    expect(readCall({ name: 'b__y', arguments: '{"title":"x"}' })).toEqual({
      server: 'b',
      tool: 'y',
      arguments: { title: 'x' },
    });
    expect(readCall({ name: 'c__z' })).toBeUndefined();
  });

  it('says which tools are not as they were, and leaves out those that no API takes', () => {
    const log = memoryLog();
    const registry = new UnifiedToolRegistry({ logger: log });
    const open = { type: 'object', additionalProperties: { type: 'string' } };
    const external = { type: 'object', properties: { a: { $ref: 'https://elsewhere.example/schema.json' } } };
    const result = registry.registerMcpTools('s', [
      { name: 'open', inputSchema: open },
      { name: 'external', inputSchema: external },
    ]);
    expect(result).toMatchObject({ data: { registered: 1, excluded: [{ serverName: 's', toolName: 'external' }] } });
    expect(registry.getToolDefinitions().map(({ name }) => name)).toEqual(['s__open']);
    expect(registry.getMcpTool('s__external')).toBeUndefined();
    expect(log.lines.at(-1)).toContain('s:external');
    const { problems } = registry.getDefinitionSet({ format: 'openai-chat', strict: true });
    expect(problems).toMatchObject([{ server: 's', tool: 'open', kind: 'not-strict' }]);
  });
});

describe('input_examples', () => {
  it('are those of the configuration and of the schema, where they are asked for', async () => {
    await using server = await startTestServer({
      tools: {
        create_issue: {
          description: 'Opens an issue',
          inputSchema: { ...issue, examples: [{ title: 'From its author' }] },
          call: () => 'opened',
        },
      },
    });
    const examples = [{ parameters: { title: 'From the configuration' } }, { parameters: { title: 5 } }];
    await using registry = new UnifiedToolRegistry({
      servers: [{ name: 'github', connection: server.connection, tools: [{ name: 'create_issue', examples }] }],
      env: { HOME: '/nonexistent' },
    });
    expect(await registry.discoverAllTools()).toMatchObject({ success: true });
    expect(registry.getToolDefinitions({ inputExamples: true })).toMatchObject([
      { input_examples: [{ title: 'From the configuration' }, { title: 'From its author' }] },
    ]);
    expect(registry.getToolDefinitions()[0]).not.toHaveProperty('input_examples');
  });
});

describe('calls come back in the words of the format that was handed out', () => {
  it('without the nulls that strict mode asks for', async () => {
    await using all = await open();
    const { registry, server, noted } = all;
    registry.getToolDefinitions({ format: 'openai-chat', strict: true });
    const args = '{"title":"Broken","body":null}';
    expect(await registry.callTool('github__create_issue', args)).toMatchObject({ success: true });
    expect(await registry.callTool('note', args, { format: 'openai-chat' })).toMatchObject({ success: true });
    expect(server.calls).toEqual([{ tool: 'create_issue', arguments: { title: 'Broken' } }]);
    expect(await registry.callTool('note', { arguments: { title: 'Broken', body: null } })).toMatchObject({
      success: true,
    });
    expect(noted).toEqual([{ title: 'Broken' }, { title: 'Broken' }]);
    expect(await registry.callTool('note', 'no JSON')).toMatchObject({ error: { code: 'TOOL_INVALID_INPUT' } });
  });

  it('by namespace and name', async () => {
    await using all = await open();
    const { registry, server } = all;
    registry.getToolDefinitions({ format: 'openai-responses', namespaces: true });
    const call = {
      type: 'function_call',
      call_id: 'c1',
      namespace: 'github',
      name: 'create_issue',
      arguments: '{"title":"Broken"}',
    } as const;
    expect(await registry.handle(call)).toEqual({
      type: 'function_call_output',
      call_id: 'c1',
      output: 'opened Broken',
    });
    expect(server.calls).toHaveLength(1);
  });

  it('whatever another request asked for meanwhile, and in a process that handed out nothing', async () => {
    await using all = await open();
    const { registry, server, noted } = all;
    const inSpace = {
      type: 'function_call',
      call_id: 'c1',
      namespace: 'github',
      name: 'create_issue',
      arguments: '{"title":"Broken","body":null}',
    } as const;
    const strict = { type: 'function', id: 'c2', function: { name: 'note', arguments: inSpace.arguments } } as const;
    const others = [
      () => [],
      () => registry.getToolDefinitions({ format: 'openai-responses', namespaces: true, strict: true }),
      () => registry.getToolDefinitions({ format: 'openai-responses' }),
      () => registry.getToolDefinitions({ format: 'openai-chat' }),
      () => registry.getToolDefinitions({ format: 'gemini' }),
    ];
    for (const other of others) {
      other();
      expect(await registry.handle(inSpace)).toMatchObject({ output: 'opened Broken' });
      expect(await registry.handle(strict)).toMatchObject({ content: 'noted' });
      expect(await registry.callTool('note', inSpace.arguments)).toMatchObject({ success: true });
    }
    expect(server.calls).toEqual(others.map(() => ({ tool: 'create_issue', arguments: { title: 'Broken' } })));
    expect(noted).toEqual(others.flatMap(() => [{ title: 'Broken' }, { title: 'Broken' }]));
  });

  it('by namespace also before the list of that server was read, and never from another', async () => {
    await using server = await startTestServer({ tools: { 'do it': { call: () => 'theirs' } } });
    const servers = [{ name: 'my-server', connection: server.connection }];
    await using registry = new UnifiedToolRegistry({ servers, env: { HOME: '/nonexistent' } });
    registry.registerStaticTool('do_it', () => 'ours', {});
    const call = {
      type: 'function_call',
      call_id: 'c',
      namespace: 'my-server',
      name: 'do_it',
      arguments: '{}',
    } as const;
    expect(await registry.handle(call)).toMatchObject({ output: 'theirs' });
    const unknown = await registry.handle({ ...call, namespace: 'elsewhere' });
    expect(unknown.output).toContain('There is no server \\"elsewhere\\".');
    const absent = await registry.handle({ ...call, name: 'gone' });
    expect(absent.output).toContain('TOOL_NOT_IMPLEMENTED');
  });

  it('by the namespaces that definitions show, however odd the names', async () => {
    const odd = ['a b', 'a.b', 'a_b', 'x'.repeat(60), 'Ünïcode'];
    const tools = odd.map((name) => ({ name, inputSchema: { type: 'object' } }));
    const { servers, calls } = memoryServers(Object.fromEntries(odd.map((name) => [name, tools])));
    const registry = new UnifiedToolRegistry({ servers });
    await registry.discoverAllTools();
    const definitions = registry.getToolDefinitions({ format: 'openai-responses', namespaces: true });
    for (const space of definitions) {
      if (space.type !== 'namespace') throw new Error('all tools are in namespaces');
      for (const { name } of space.tools)
        await registry.handle({ type: 'function_call', call_id: 'c', namespace: space.name, name, arguments: '' });
    }
    expect(calls.map(({ server, tool }) => `${server} ${tool}`).sort()).toEqual(
      odd.flatMap((server) => odd.map((tool) => `${server} ${tool}`)).sort(),
    );
  });

  it('by the names a model was shown before others made them longer', async () => {
    const called: unknown[] = [];
    const run = (name: string) => (args: object) => {
      called.push([name, args]);
      return '';
    };
    const registry = new UnifiedToolRegistry();
    const lists: Record<string, string[]> = { first: ['a.b'] };
    const provider = {
      get revision() {
        return JSON.stringify(lists);
      },
      listToolMetadata: () => (lists.first ?? []).map((name) => ({ name, inputSchema: { type: 'object' } })),
      getTool: () => undefined,
      callTool: (name: string, args: object) => {
        run(name)(args);
        return { content: [] };
      },
    };
    registry.addProvider(provider);
    await registry.discoverAllTools();
    expect(registry.getToolDefinitions().map(({ name }) => name)).toEqual(['a_b']);
    lists.first = ['a.b', 'a_b'];
    await registry.discoverAllTools();
    await registry.callTool('a_b');
    expect(called).toEqual([['a.b', {}]]);
    registry.getToolDefinitions();
    await registry.callTool('a_b');
    expect(called[1]).toEqual(['a_b', {}]);
  });

  it('under the tool’s own names for parameters, in the words of any format', async () => {
    const registry = new UnifiedToolRegistry();
    const got: unknown[] = [];
    const properties = { 'first name': { type: 'string' }, 'a.b': { type: 'number' } };
    registry.registerStaticTool('greet', (args) => void got.push(args), {
      inputSchema: { type: 'object', properties },
    });
    const keys = {
      anthropic: Object.keys(registry.getToolDefinitions()[0]?.input_schema.properties ?? {}),
      gemini: Object.keys(
        registry.getToolDefinitions({ format: 'gemini' })[0]?.functionDeclarations[0]?.parametersJsonSchema
          ?.properties ?? {},
      ),
    };
    const write = ([name, dotted]: string[]) => ({ [String(name)]: 'Ada', [String(dotted)]: 1 });
    await registry.handle({ functionCall: { name: 'greet', args: write(keys.gemini) } });
    await registry.handle({ type: 'tool_use', id: 't', name: 'greet', input: write(keys.anthropic) });
    await registry.callTool('greet', write(keys.gemini));
    await registry.callTool('greet', write(keys.anthropic));
    await registry.callTool('greet', { 'first name': 'Ada', 'a.b': 1 });
    expect(keys.gemini).not.toEqual(keys.anthropic);
    expect(got).toEqual(Array.from({ length: 5 }, () => ({ 'first name': 'Ada', 'a.b': 1 })));
  });

  it('through the AI SDK', async () => {
    await using all = await open();
    const tools = all.registry.getToolDefinitions({ format: 'ai-sdk' });
    expect(await tools.github__create_issue?.execute?.({ title: 'Broken' }, { toolCallId: 'c1' })).toEqual({
      content: [{ type: 'text', text: 'opened Broken' }],
    });
    expect(await tools.note?.execute?.({}, { toolCallId: 'c2' })).toMatchObject({ isError: true });
  });

  it('also for tools that were removed since, which are reported as missing', async () => {
    await using all = await open();
    const { registry } = all;
    registry.getToolDefinitions();
    registry.removeServerTools('github');
    registry.registerMcpTools('github', []);
    expect(await registry.callTool('github__create_issue', { title: 'x' })).toMatchObject({
      error: { code: 'TOOL_NOT_IMPLEMENTED' },
    });
  });
});

describe('handle', () => {
  it('answers a tool_use block of Anthropic', async () => {
    await using all = await open();
    const block = { type: 'tool_use', id: 'toolu_1', name: 'github__create_issue', input: { title: 'x' } } as const;
    expect(await all.registry.handle(block, { traceId: 't' })).toEqual({
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: [{ type: 'text', text: 'opened x' }],
    });
  });

  it('answers a call that went wrong with what the model can mend', async () => {
    await using all = await open();
    const call = { type: 'function', id: 'c1', function: { name: 'note', arguments: '{}' } } as const;
    const answer = await all.registry.handle(call);
    expect(answer).toMatchObject({ role: 'tool', tool_call_id: 'c1' });
    expect(answer.content).toContain('TOOL_INVALID_INPUT');
    expect(answer.content).toContain('title');
  });

  it('answers a functionCall of Gemini', async () => {
    await using all = await open();
    const answer = await all.registry.handle({ functionCall: { name: 'note', args: { title: 'x' } } });
    expect(answer.functionResponse).toMatchObject({ name: 'note', response: { output: 'noted' } });
  });

  it('answers a call that does not say whose it is in the format it is told', async () => {
    await using all = await open();
    const call = { name: 'note', id: 'c1', args: { title: 'x' } };
    expect(await all.registry.handle(call, { format: 'langchain' })).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      name: 'note',
      content: 'noted',
      status: 'success',
    });
    expect(await all.registry.handle(call)).toHaveProperty('functionResponse');
  });

  it('does not run calls that the API answers itself, or calls without an id', async () => {
    await using all = await open();
    const input = { title: 'x' };
    for (const call of [
      { type: 'server_tool_use', id: 's1', name: 'note', input },
      { type: 'mcp_call', id: 'm1', name: 'note', arguments: JSON.stringify(input) },
      { type: 'tool_use', name: 'note', input },
    ])
      await expect(all.registry.handle(call as never)).rejects.toThrow(ValidationError);
    expect(all.noted).toEqual([]);
  });

  it('throws for what is no call', async () => {
    await using all = await open();
    await expect(all.registry.handle({} as never)).rejects.toThrow(ValidationError);
  });
});
