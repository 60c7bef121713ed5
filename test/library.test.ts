/** The code that docs/library.md shows, run as it stands there; test/examples.test.ts holds the page to it. */
import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
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
} from '../src/library.ts';
import { startTestServer } from '../src/testing/index.ts';
import { memoryLog } from './fixtures/engine.ts';

const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;

describe('registering tools', () => {
  it('takes schemas of zod, valibot and arktype, and JSON Schema', async () => {
    const registry = new ToolRegistry({ toJsonSchema }); // valibot's, from @valibot/to-json-schema

    registry.registerTool(
      {
        name: 'add',
        description: 'Add two numbers',
        inputSchema: z.object({ a: z.number(), b: z.number() }),
        outputSchema: z.object({ sum: z.number() }),
      },
      ({ a, b }) => ({ sum: a + b }), // an object becomes structuredContent
    );
    registry.registerTool(
      { name: 'greet', description: 'Greet somebody', inputSchema: v.object({ name: v.string() }) },
      async ({ name }) => `Hello, ${name}`, // a text becomes one text block
    );
    registry.registerTool(
      { name: 'repeat', description: 'Repeat a text', inputSchema: type({ text: 'string', times: 'number' }) },
      ({ text, times }) => text.repeat(times),
    );
    registry.registerTool(
      {
        name: 'divide',
        description: 'Divide two numbers',
        inputSchema: { type: 'object', properties: { by: { type: 'number' } }, required: ['by'] },
      },
      ({ by }) => {
        if (by === 0) throw new Error('Nobody can divide by zero'); // becomes an isError result
        return { content: [{ type: 'text', text: String(1 / Number(by)) }] }; // a whole result is handed on
      },
    );

    expect((await registry.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    expect(textOf(await registry.callTool('greet', { name: 'Ada' }))).toBe('Hello, Ada');
    expect(textOf(await registry.callTool('repeat', { text: 'ha', times: 2 }))).toBe('haha');
    expect(textOf(await registry.callTool('divide', { by: 2 }))).toBe('0.5');
    expect(await registry.callTool('divide', { by: 0 })).toMatchObject({ isError: true });
    await registry.close();
  });

  it('finds mistakes when it is compiled', () => {
    const registry = new ToolRegistry();
    const inputSchema = z.object({ to: z.string() });

    // @ts-expect-error: the schema has no "recipient"
    registry.registerTool({ name: 'a', description: 'A', inputSchema }, ({ recipient }) => recipient);
    // @ts-expect-error: "keywords" are arguments of their own
    registry.registerTool({ name: 'b', description: 'B', keywords: ['mail'] }, () => '');

    expect(registry.listTools()).toHaveLength(2);
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

const scriptsOf = (...names: string[]): ScriptTools => {
  const scripts = new ScriptTools();
  for (const name of names)
    scripts.scripts.set(name, {
      description: `Run ${name}`,
      tags: ['maintenance'],
      run: async () => `${name} has run`,
    });
  return scripts;
};

describe('providers', () => {
  it('are found and called like registered tools, and told when their list changed', async () => {
    const registry = new ToolRegistry();
    const scripts = scriptsOf('rotate_logs');

    registry.addProvider(scripts);
    const { results, notes } = await registry.search('maintenance');
    const result = await registry.callTool('rotate_logs');

    expect([results.map(({ name }) => name), notes]).toEqual([['rotate_logs'], []]);
    expect(textOf(result)).toBe('rotate_logs has run');

    scripts.scripts.delete('rotate_logs');
    registry.invalidate(scripts); // or give the provider a `revision` that changes with its list

    expect((await registry.search('maintenance')).results).toEqual([]);
  });

  it('belong to one request where middleware says so', async () => {
    const registry = new ToolRegistry();
    const toolsOf = (user: string) => scriptsOf(`tidy_${user}`);
    const next = async () => (await registry.search('maintenance')).results.map(({ name }) => name);

    const middleware = (user: string) => withRequestProviders([toolsOf(user)], next);

    expect(await Promise.all([middleware('anna'), middleware('ben')])).toEqual([['tidy_anna'], ['tidy_ben']]);
    expect(await next()).toEqual([]);
  });
});

describe('the unified registry', () => {
  it('merges own tools and those of servers that the environment names', async () => {
    await using rube = await startTestServer({ tools: { search: { description: 'Search', call: () => 'found' } } });
    const env = { RUBE_MCP_URL: rube.url };
    const logger = memoryLog();
    const traceId = 'trace-1';

    // RUBE_MCP_URL=https://… RUBE_API_KEY=… ; RUBE_MCP_ENABLED=false switches it off
    const registry = new UnifiedToolRegistry({ servers: serversFromEnv(['rube'], env), env, logger });
    registry.registerStaticTool('get_time', () => new Date().toISOString(), { description: 'Tell the time' });
    registry.addProvider(scriptsOf('rotate_logs'));

    const discovered = await registry.discoverAllTools(traceId); // connects now, and not before
    const tools = registry.getToolDefinitions(); // synchronous, sorted by name, in Anthropic's format

    expect(discovered).toEqual({ success: true, data: { registered: 1 } });
    expect(tools.map(({ name }) => name)).toEqual(['get_time', 'rotate_logs', 'rube__search']);

    const result = await registry.callTool('rube__search', { query: 'cats' }, { traceId });
    if (!result.success) throw new Error(isRetryable(result.error) ? 'try again' : result.error.message);

    expect(textOf(result.data)).toBe('found');
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
    registry.registerTool({ name: 'send_email', description: 'Send an email' }, () => 'sent');

    const deferred = toDefinitions(registry.listTools(), { format: 'anthropic', deferLoading: true });
    const tools = [anthropicToolSearch(), ...deferred.definitions]; // Anthropic searches

    expect(tools.map(({ name }) => name)).toEqual(['tool_search_tool_bm25', 'send_email']);

    const { results } = await registry.search('mail'); // or a tool of yours does, with our ranking
    const hits = results.map(({ name }) => ({ server: '', tool: name }));
    const content = toToolReferences(hits, deferred); // the content of that tool's tool_result

    expect(content).toEqual([{ type: 'tool_reference', tool_name: 'send_email' }]);
  });
});
