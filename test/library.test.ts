/** The code that docs/library.md shows, run as it stands there; test/examples.test.ts holds the page to it. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { DiscoveryEngine } from '../src/index.ts';
import {
  anthropicToolSearch,
  isRetryable,
  serversFromEnv,
  ToolNotFoundError,
  type ToolProvider,
  ToolRegistry,
  toDefinitions,
  toToolReferences,
  UnifiedToolRegistry,
  withRequestProviders,
} from '../src/registry.ts';
import { startTestServer } from '../src/testing/index.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;

describe('the quick start', () => {
  async function sendEmail(url: URL, email: { to: string; subject: string; body: string }) {
    const client = new Client({ name: 'client', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(url));
    const found = await client.callTool({ name: 'tool_search', arguments: { query: 'smtp', max_results: 3 } });
    const [answer] = found.content;
    const [hit] = answer?.type === 'text' ? JSON.parse(answer.text) : [];
    return client.callTool({ name: 'execute_tool', arguments: { name: hit.name, arguments: email } });
  }

  it('has a client that finds what is hidden, and calls it', async () => {
    const registry = new ToolRegistry();
    registry.registerTool(
      { name: 'send_email', description: 'Send an email', inputSchema: z.object({ to: z.string() }) },
      ({ to }) => `Email sent to ${to}`,
      'smtp',
    );
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'my-server', version: '1.0.0' });
      registry.attach(server);
      return server;
    });
    const http = createServer(toNodeHandler(handler) as RequestListener).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
    try {
      const sent = await sendEmail(url, { to: 'ada@example.com', subject: 'Hello', body: 'World' });
      expect(textOf(sent)).toBe('Email sent to ada@example.com');
    } finally {
      http.close();
      http.closeAllConnections();
      await handler.close();
    }
  });
});

describe('registering tools', () => {
  it('takes schemas of zod, valibot and arktype, and JSON Schema', async () => {
    const registry = new ToolRegistry({ toJsonSchema }); // valibot's, from @valibot/to-json-schema

    registry.registerTool(
      'add',
      {
        description: 'Add two numbers',
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
      },
      ({ a, b }) => ({ sum: a + b }), // an object becomes structuredContent
    );
    registry.registerTool(
      'greet',
      { description: 'Greet somebody', inputSchema: v.object({ name: v.string() }) },
      async ({ name }) => `Hello, ${name}`, // a text becomes one text block
    );
    registry.registerTool(
      'repeat',
      { description: 'Repeat a text', inputSchema: type({ text: 'string', times: 'number' }) },
      ({ text, times }) => text.repeat(times),
    );
    registry.registerTool(
      'divide',
      {
        description: 'Divide two numbers',
        inputSchema: { type: 'object', properties: { by: { type: 'number' } }, required: ['by'] },
      },
      ({ by }) => {
        if (by === 0) throw new Error('Nobody can divide by zero'); // becomes an isError result
        return { content: [{ type: 'text', text: String(1 / by) }] }; // a whole result is handed on
      },
    );

    expect((await registry.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    expect(textOf(await registry.callTool('greet', { name: 'Ada' }))).toBe('Hello, Ada');
    expect(textOf(await registry.callTool('repeat', { text: 'ha', times: 2 }))).toBe('haha');
    expect(textOf(await registry.callTool('divide', { by: 2 }))).toBe('0.5');
    expect(await registry.callTool('divide', { by: 0 })).toMatchObject({ isError: true });
    await registry.close();
  });

  it('changes a tool through the handle that registering it returned', () => {
    const registry = new ToolRegistry();
    const tool = registry.registerTool('report', { description: 'Write the weekly report' }, () => 'All is well');

    tool.update({ description: 'Write the monthly report', keywords: ['summary'] }); // the rest stays as it is
    tool.disable(); // neither listed nor found nor called; its name stays taken
    tool.enable();
    tool.remove();

    expect([tool.enabled, registry.listTools()]).toEqual([false, []]);
  });

  it('finds mistakes when it is compiled, or when it runs', () => {
    const registry = new ToolRegistry();
    const inputSchema = z.object({ to: z.string() });

    const mistakes = () => {
      // @ts-expect-error: the schema has no "recipient"
      registry.registerTool('a', { description: 'A', inputSchema }, ({ recipient }) => recipient);
      // @ts-expect-error: a list of strings
      registry.registerTool('b', { description: 'B', keywords: 'mail' }, () => '');
    };

    expect(mistakes).toThrow('b: keywords must be a list of strings');
  });
});

interface Script {
  description: string;
  tags: string[];
  run(args: Readonly<Record<string, unknown>>): Promise<string>;
}

class ScriptTools implements ToolProvider {
  readonly name = 'scripts';
  readonly scripts = new Map<string, Script>();

  listToolMetadata() {
    return [...this.scripts].map(([name, { description, tags }]) => ({ name, description, keywords: tags }));
  }

  getTool(name: string) {
    const script = this.scripts.get(name);
    return script && { name, description: script.description, inputSchema: { type: 'object' } };
  }

  async callTool(name: string, args: Readonly<Record<string, unknown>>) {
    const script = this.scripts.get(name);
    if (!script) throw new ToolNotFoundError(name);
    return { content: [{ type: 'text', text: await script.run(args) }] };
  }
}

describe('providers', () => {
  it('are found and called like registered tools, and told when their list changed', async () => {
    const scripts = new ScriptTools();
    scripts.scripts.set('rotate_logs', { description: 'Rotate logs', tags: ['maintenance'], run: async () => 'done' });

    const registry = new ToolRegistry();
    registry.addProvider(scripts);
    const { results, notes } = await registry.search('maintenance');
    const result = await registry.callTool('rotate_logs');

    expect([results.map(({ name }) => name), notes]).toEqual([['rotate_logs'], []]);
    expect(textOf(result)).toBe('done');

    scripts.scripts.delete('rotate_logs');
    registry.invalidate(scripts); // or give the provider a `revision` that changes with its list

    expect((await registry.search('maintenance')).results).toEqual([]);
  });

  it('belong to one request where middleware says so', async () => {
    const registry = new ToolRegistry();
    const toolsOf = (user: string) => {
      const own = new ToolRegistry();
      own.registerTool(`tidy_${user}`, { description: 'Tidy up', keywords: ['maintenance'] }, () => 'tidy');
      return own;
    };

    const searchAs = (user: string) => withRequestProviders(toolsOf(user), () => registry.search('maintenance'));

    const [anna, ben] = await Promise.all([searchAs('anna'), searchAs('ben')]);
    expect([anna.results.map(({ name }) => name), ben.results.map(({ name }) => name)]).toEqual([
      ['tidy_anna'],
      ['tidy_ben'],
    ]);
    expect((await registry.search('maintenance')).results).toEqual([]);
  });
});

describe('the unified registry', () => {
  it('merges own tools and those of servers that the environment names', async () => {
    await using rube = await startTestServer({ tools: { search: { description: 'Search', call: () => 'found' } } });
    vi.stubEnv('RUBE_MCP_URL', rube.url);

    // RUBE_MCP_URL=https://… RUBE_API_KEY=… ; RUBE_MCP_ENABLED=false switches it off
    const registry = new UnifiedToolRegistry({ servers: serversFromEnv(['rube']) });
    registry.registerStaticTool('get_time', () => new Date().toISOString(), { description: 'Tell the time' });
    registry.registerStaticTool('shout', ({ text }) => text.toUpperCase(), {
      description: 'Say it loudly',
      input_schema: z.object({ text: z.string() }),
    });

    const discovered = await registry.discoverAllTools(); // connects now, and not before
    const tools = registry.getToolDefinitions(); // synchronous, sorted by name, in Anthropic's format

    expect(discovered).toEqual({ success: true, data: { registered: 1 } });
    expect(tools.map(({ name }) => name)).toEqual(['get_time', 'rube__search', 'shout']);

    const result = await registry.callTool('rube__search', { query: 'cats' });
    if (!result.success) throw new Error(isRetryable(result.error) ? 'try again' : result.error.message);

    expect(textOf(result.data)).toBe('found');
    expect(await registry.callTool('shout', { text: 'hey' })).toMatchObject({ data: { content: [{ text: 'HEY' }] } });
    expect(await registry.callTool('rube__serach')).toMatchObject({ error: { code: 'TOOL_NOT_IMPLEMENTED' } });
    await registry.close();
  });

  it('writes definitions for each API and answers its calls in its own shape', async () => {
    const registry = new UnifiedToolRegistry();
    registry.registerStaticTool('add', ({ a, b }: { a: number; b: number }) => String(a + b), {
      description: 'Add two numbers',
      input_schema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a'] },
    });

    const { definitions, problems } = registry.getDefinitionSet({ format: 'openai-responses', strict: true });
    // For each function_call in response.output:
    const output = await registry.handle({
      type: 'function_call',
      call_id: 'c1',
      name: 'add',
      arguments: '{"a":1,"b":2}',
    });

    expect(definitions).toMatchObject([{ type: 'function', name: 'add', strict: true }]);
    expect(problems).toEqual([]);
    expect(output).toEqual({ type: 'function_call_output', call_id: 'c1', output: '3' });
  });
});

describe('tool searches of APIs', () => {
  it("load deferred tools through Anthropic's own search or through ours", async () => {
    const registry = new ToolRegistry();
    registry.registerTool('send_email', { description: 'Send an email' }, () => 'sent');

    const deferred = toDefinitions(registry.listTools(), { format: 'anthropic', deferLoading: true });
    const tools = [anthropicToolSearch(), ...deferred.definitions]; // Anthropic searches

    expect(tools.map(({ name }) => name)).toEqual(['tool_search_tool_bm25', 'send_email']);

    const { results } = await registry.search('mail'); // or a tool of yours does, with our ranking
    const hits = results.map(({ name }) => ({ server: '', tool: name }));
    const content = toToolReferences(hits, deferred); // the content of that tool's tool_result

    expect(content).toEqual([{ type: 'tool_reference', tool_name: 'send_email' }]);
  });
});

describe('an agent loop', () => {
  async function run(anthropic: Anthropic, engine: DiscoveryEngine, question: string) {
    const tools = engine.tools({ format: 'anthropic', mode: 'search' });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
    for (;;) {
      const reply = await anthropic.messages.create({ model: 'claude-opus-4-5', max_tokens: 4096, messages, tools });
      messages.push({ role: 'assistant', content: reply.content });
      const calls = reply.content.filter((block) => block.type === 'tool_use');
      if (calls.length === 0) return messages;
      const results = calls.map((call) => engine.handle(call));
      messages.push({ role: 'user', content: await Promise.all(results) });
    }
  }

  it('answers the calls of own tools and of the meta-tools, and no others', async () => {
    await using server = await startTestServer({ tools: { greet: { call: () => 'Hello' } } });
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'get_user', description: 'Who is asking', visible: true }, () => 'Ada');
    const servers = [{ name: 'greeter', connection: server.connection }];
    await using engine = new DiscoveryEngine({ servers, providers: [registry] });
    const replies = [
      [
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
        { type: 'tool_use', id: 't1', name: 'get_user', input: {} },
        { type: 'tool_use', id: 't2', name: 'execute_tool', input: { server: 'greeter', tool: 'greet' } },
      ],
      [{ type: 'text', text: 'Hello, Ada', citations: null }],
    ];
    // The SDK as it is; what the model would say was recorded.
    const fetch = async () => Response.json({ type: 'message', role: 'assistant', content: replies.shift() ?? [] });
    const messages = await run(new Anthropic({ apiKey: 'none', fetch }), engine, 'Who am I?');
    expect(messages[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'Ada' }] },
        { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'Hello' }] },
      ],
    });
    expect(messages).toHaveLength(4);
  });
});
