/** Seed 001, as it is written there, in TypeScript: the quick start, the providers and the two discovery tools. */
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import { ToolNotFoundError, type ToolProvider, ToolRegistry, withRequestProviders } from '../../registry.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const emailTools = (): ToolRegistry => {
  // Create tool registry
  const registry = new ToolRegistry();

  // Register searchable tools (hidden from tools/list)
  registry.registerTool(
    {
      name: 'send_email',
      description: 'Send an email to a recipient',
      inputSchema: z.object({
        to: z.string().describe('Recipient email'),
        subject: z.string().describe('Email subject'),
        body: z.string().describe('Email body'),
      }),
    },
    ({ to }) => `Email sent to ${to}`,
    'email',
    'communication',
    'smtp', // keywords for search
  );
  return registry;
};

/** Serves a registry over HTTP; `around` is the middleware. */
async function serve(
  registry: ToolRegistry,
  around = (_user: string | undefined, next: () => void) => next(),
): Promise<string> {
  const handle = toNodeHandler(
    createMcpHandler(() => {
      // Create MCP server
      const server = new McpServer({ name: 'my-server', version: '1.0.0' });
      // Attach registry to server (registers tool_search, execute_tool)
      registry.attach(server);
      return server;
    }),
  );
  // Start server
  const http: HttpServer = createServer((request, response) =>
    around(request.headers['x-user-id'] as string | undefined, () => void handle(request as never, response)),
  );
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  opened.push(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

async function connect(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  opened.push(() => client.close());
  return client;
}

const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;
const search = async (client: Client, query: string, rest = {}) =>
  JSON.parse(textOf(await client.callTool({ name: 'tool_search', arguments: { query, ...rest } })));

describe('the quick start', () => {
  it('lists tool_search and execute_tool, not the tools behind them', async () => {
    const client = await connect(await serve(emailTools()));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['tool_search', 'execute_tool']);
  });

  it('finds a tool with its full input schema', async () => {
    const client = await connect(await serve(emailTools()));
    const results = await search(client, 'email', { max_results: 10 });
    expect(results).toEqual([
      {
        name: 'send_email',
        description: 'Send an email to a recipient',
        score: expect.any(Number),
        input_schema: {
          type: 'object',
          properties: {
            to: { type: 'string', description: 'Recipient email' },
            subject: { type: 'string', description: 'Email subject' },
            body: { type: 'string', description: 'Email body' },
          },
          required: ['to', 'subject', 'body'],
        },
      },
    ]);
    expect(results[0].score).toBeGreaterThanOrEqual(0.85);
  });

  it('executes a hidden tool', async () => {
    const client = await connect(await serve(emailTools()));
    const result = await client.callTool({
      name: 'execute_tool',
      arguments: {
        name: 'send_email',
        arguments: { to: 'user@example.com', subject: 'Hello', body: 'World' },
      },
    });
    expect(result.content).toEqual([{ type: 'text', text: 'Email sent to user@example.com' }]);
  });
});

/** Tools from scripts, as a provider. */
class ScriptToolProvider implements ToolProvider {
  readonly scripts: Map<string, { description: string; tags: string[] }>;

  constructor(scripts: Record<string, { description: string; tags: string[] }>) {
    this.scripts = new Map(Object.entries(scripts));
  }

  listToolMetadata() {
    return [...this.scripts].map(([name, { description, tags }]) => ({ name, description, keywords: tags }));
  }

  getTool(name: string) {
    const script = this.scripts.get(name);
    if (!script) return undefined; // not found
    return {
      name,
      description: script.description,
      inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    };
  }

  async callTool(name: string) {
    if (!this.scripts.has(name)) throw new ToolNotFoundError(name);
    return { content: [{ type: 'text', text: `Script ${name} executed` }] };
  }
}

describe('dynamic tool providers', () => {
  it('are searched and called like registered tools', async () => {
    const registry = emailTools();
    registry.addProvider(
      new ScriptToolProvider({ rotate_logs: { description: 'Rotate old logs', tags: ['cleanup'] } }),
    );
    const client = await connect(await serve(registry));
    expect((await search(client, 'cleanup'))[0]).toEqual({
      name: 'rotate_logs',
      description: 'Rotate old logs',
      score: expect.any(Number),
      input_schema: { type: 'object', properties: { n: { type: 'number' } } },
    });
    expect(textOf(await client.callTool({ name: 'execute_tool', arguments: { name: 'rotate_logs' } }))).toBe(
      'Script rotate_logs executed',
    );
  });

  it('of one request are added by middleware, and seen by that request only', async () => {
    const registry = emailTools();
    const url = await serve(registry, (user, next) => {
      if (user === undefined) return next();
      const provider = new ScriptToolProvider({
        [`notes_of_${user}`]: { description: 'Read my notes', tags: ['notes'] },
      });
      withRequestProviders([provider], next);
    });
    const anna = await connect(url, { 'X-User-ID': 'anna' });
    const ben = await connect(url, { 'X-User-ID': 'ben' });
    const nobody = await connect(url);
    const names = async (client: Client) => (await search(client, 'notes')).map(({ name }: { name: string }) => name);
    expect(await names(anna)).toEqual(['notes_of_anna']);
    expect(await names(ben)).toEqual(['notes_of_ben']);
    expect(await names(nobody)).toEqual([]);
    const execute = (client: Client) => client.callTool({ name: 'execute_tool', arguments: { name: 'notes_of_anna' } });
    expect(textOf(await execute(anna))).toBe('Script notes_of_anna executed');
    expect(await execute(ben)).toMatchObject({ isError: true });
  });

  it('include other registries', async () => {
    const registry = new ToolRegistry();
    const found = await withRequestProviders(emailTools(), () => registry.search('smtp'));
    expect(found.results.map(({ name }) => name)).toEqual(['send_email']);
    expect((await registry.search('smtp')).results).toEqual([]);
  });
});

describe('the search algorithm', () => {
  const registry = new ToolRegistry();
  const add = (name: string, description: string, ...keywords: string[]) =>
    registry.registerTool({ name, description }, () => '', ...keywords);
  add('query', 'Anything');
  add('query_log', 'Anything');
  add('sql', 'Anything', 'query');
  add('my_query_tool', 'Anything');
  add('finder', 'Anything', 'jquery_like');
  add('reader', 'Runs a query and returns rows');
  add('asker', 'Subqueryable rows');
  add('unrelated', 'Sends a postcard');

  it.each([
    ['exact name match', 'query', 1],
    ['name prefix', 'query_log', 0.9],
    ['keyword exact match', 'sql', 0.85],
    ['name contains', 'my_query_tool', 0.8],
    ['keyword contains', 'finder', 0.7],
    ['description word match', 'reader', 0.6],
    ['description contains', 'asker', 0.5],
  ])('%s: %s scores at least %d', async (_, name, score) => {
    const { results } = await registry.search('query');
    expect(results.find((hit) => hit.name === name)?.score).toBeGreaterThanOrEqual(score);
  });

  it('sorts by score and leaves out what has nothing to do with it', async () => {
    const { results } = await registry.search('QUERY');
    const scores = results.map(({ score }) => score);
    expect(results[0]).toMatchObject({ name: 'query', score: 1 });
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(results.map(({ name }) => name)).not.toContain('unrelated');
  });

  it('finds what is misspelt, by likeness', async () => {
    const { results } = await registry.search('qurey_log');
    expect(results[0]?.name).toBe('query_log');
    expect(results[0]?.score).toBeGreaterThan(0.4);
  });

  it('gives 10 results unless told otherwise', async () => {
    const many = new ToolRegistry();
    for (let n = 0; n < 50; n++) many.registerTool({ name: `mail_${n}`, description: 'Send mail' }, () => '');
    expect((await many.search('mail')).results).toHaveLength(10);
    expect((await many.search('mail', { maxResults: 3 })).results).toHaveLength(3);
    expect((await many.search('mail', { maxResults: 40 })).results).toHaveLength(40);
  });
});
