import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as V1InMemory } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as V1Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer as V1McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { acceptedContent, createMcpHandler, inputRequired, McpServer, Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import { DEFAULTS } from '../../core/limits.ts';
import { type ToolProvider, ToolRegistry, type ToolRequest, withRequestProviders } from '../../registry.ts';
import type { AttachOptions } from './attach.ts';
import type { AttachableServer } from './sdk-server.ts';

const INFO = { name: 'server', version: '1.0.0' };
const OBJECT = { type: 'object' as const };
const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;
const errorOf = (result: unknown) => JSON.parse(textOf(result)).error;

/** A server of each kind, bare. */
const SERVERS: [string, () => AttachableServer][] = [
  ['McpServer of version 1', () => new V1McpServer(INFO)],
  ['Server of version 1', () => new V1Server(INFO, { capabilities: {} })],
  ['McpServer of version 2', () => new McpServer(INFO)],
  ['Server of version 2', () => new Server(INFO)],
];

const isVersion1 = (server: AttachableServer): boolean => server instanceof V1McpServer || server instanceof V1Server;

/** What clients of both versions have in common, as far as it is used here. */
interface AnyClient {
  listTools(params?: {
    cursor?: string;
  }): Promise<{ tools: { name: string; description?: string; inputSchema: unknown }[]; nextCursor?: string }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
}

async function connect(server: AttachableServer): Promise<AnyClient> {
  if (isVersion1(server)) {
    const [near, far] = V1InMemory.createLinkedPair();
    const client = new V1Client({ name: 'client', version: '1.0.0' });
    await Promise.all([server.connect(near as never), client.connect(far)]);
    return client as never;
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'client', version: '1.0.0' });
  await Promise.all([server.connect(near as never), client.connect(far)]);
  return client as never;
}

const registryOf = (): ToolRegistry => {
  const registry = new ToolRegistry();
  registry.registerTool({ name: 'hidden', description: 'A hidden thing' }, () => 'from the registry');
  registry.registerTool({ name: 'shown', description: 'A thing for all to see', visible: true }, () => 'shown');
  return registry;
};
const attached = async (server: AttachableServer, options?: AttachOptions, registry = registryOf()) => {
  registry.attach(server, options);
  return connect(server);
};
const namesOf = async (client: AnyClient) => (await client.listTools()).tools.map(({ name }) => name);
const execute = (client: AnyClient, name: string, args?: unknown) =>
  client.callTool({ name: 'execute_tool', arguments: { name, ...(args !== undefined && { arguments: args }) } });

describe.each(SERVERS)('attached to a bare %s', (_, create) => {
  it('a registry makes it a server with tools', async () => {
    const client = await attached(create());
    expect(await namesOf(client)).toEqual(['shown', 'tool_search', 'execute_tool']);
    expect(textOf(await execute(client, 'hidden'))).toBe('from the registry');
    expect(textOf(await client.callTool({ name: 'hidden' }))).toBe('from the registry');
    expect(textOf(await client.callTool({ name: 'shown' }))).toBe('shown');
  });

  it('only one registry can be attached, and only before the connection', async () => {
    const server = create();
    registryOf().attach(server);
    expect(() => registryOf().attach(server)).toThrow('already has a registry');
    const late = create();
    await connect(late);
    expect(() => registryOf().attach(late)).toThrow('Attach before the server is connected');
  });

  it('the two tools are listed with their parameters, and say what can be found', async () => {
    const client = await attached(create(), { about: 'e-mail and invoices' });
    const [, search, run] = (await client.listTools()).tools;
    expect(search?.description).toContain('Tools for e-mail and invoices.');
    expect(search?.inputSchema).toMatchObject({
      properties: { query: { type: 'string' }, max_results: { type: 'integer' } },
      required: ['query'],
    });
    expect(run?.inputSchema).toMatchObject({ properties: { name: {}, arguments: {} }, required: ['name'] });
    for (const tool of [search, run]) expect(tool).toMatchObject({ _meta: { 'anthropic/alwaysLoad': true } });
  });

  it('results fit the output schema that is listed, as clients insist they do', async () => {
    const registry = new ToolRegistry();
    const outputSchema = z.object({ id: z.number(), role: z.string().default('guest') });
    registry.registerTool({ name: 'user', description: 'A user', visible: true, outputSchema }, () => {
      const user = { id: 1, passwordHash: 'secret' };
      return user;
    });
    const client = await attached(create(), {}, registry);
    await client.listTools();
    const result = await client.callTool({ name: 'user' });
    expect(result).toMatchObject({ structuredContent: { id: 1, role: 'guest' } });
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it('all tools are listed in the mode for clients that search themselves', async () => {
    const registry = registryOf();
    registry.addProvider(providerOf('provided'));
    const client = await attached(create(), { mode: 'show-all' }, registry);
    expect(await namesOf(client)).toEqual(['hidden', 'provided', 'shown']);
    expect(textOf(await client.callTool({ name: 'provided' }))).toBe('provided');
    // The two are there all the same.
    expect(textOf(await execute(client, 'hidden'))).toBe('from the registry');
  });

  it('providers of the request come and go with it, and one that fails affects no other', async () => {
    let providers: () => ToolProvider | undefined = () => providerOf('private');
    const registry = registryOf();
    const client = await attached(create(), { providersFor: async () => providers() }, registry);
    const search = async () =>
      (await client.callTool({ name: 'tool_search', arguments: { query: 'private' } })) as {
        content: { text: string }[];
      };
    expect(JSON.parse(textOf(await search()))[0].name).toBe('private');
    expect(textOf(await execute(client, 'private'))).toBe('private');
    providers = () => undefined;
    expect(JSON.parse(textOf(await search())).map(({ name }: { name: string }) => name)).not.toContain('private');
    expect(errorOf(await execute(client, 'private'))).toMatchObject({ code: 'TOOL_NOT_FOUND' });
    providers = () => {
      throw new Error('who are you?');
    };
    expect((await search()).content[1]?.text).toContain(
      'the provider of this request could not be asked (who are you?)',
    );
    expect(errorOf(await execute(client, 'private')).message).toContain('who are you?');
    expect(textOf(await execute(client, 'hidden'))).toBe('from the registry');
    expect(await namesOf(client)).toContain('shown');
  });
});

describe.each(SERVERS)('what a program gives for a request, on %s', (_, create) => {
  it.each<[string, () => unknown, string]>([
    ['takes too long', () => new Promise(() => {}), 'no answer within 20 ms'],
    ['is no provider', () => ({}), 'lacks listToolMetadata'],
    ['is no provider among others', () => [providerOf('fine'), null], 'lacks listToolMetadata'],
    ['tells secrets', () => Promise.reject(new Error('pg://u:geheim@host')), 'pg://***@host'],
    ['throws what is no error', () => Promise.reject(Object.create(null)), 'could not be asked (no reason was given)'],
  ])('costs a note when it %s', async (_case, providersFor, note) => {
    const registry = new ToolRegistry({ providers: { waitMs: 20 } });
    registry.registerTool({ name: 'shown', description: 'Shown', visible: true }, () => 'shown');
    const client = await attached(create(), { providersFor: providersFor as never }, registry);
    expect(await namesOf(client)).toEqual(['shown', 'tool_search', 'execute_tool']);
    const found = await client.callTool({ name: 'tool_search', arguments: { query: 'shown' } });
    expect(JSON.stringify(found)).toContain(note);
    expect(JSON.stringify(found)).not.toContain('geheim');
    const refused = errorOf(await execute(client, 'private'));
    expect(refused).toMatchObject({ code: 'TOOL_NOT_FOUND', retryable: true });
    expect(refused.message).toContain(note);
    expect(refused.message).not.toContain('geheim');
    expect(textOf(await execute(client, 'shown'))).toBe('shown');
  });

  it('falls back to the hidden mode if the mode function throws', async () => {
    const mode = () => {
      throw new Error('no mode');
    };
    expect(await namesOf(await attached(create(), { mode }))).toEqual(['shown', 'tool_search', 'execute_tool']);
  });
});

it('an option that does not exist is refused', () => {
  const attach = () => registryOf().attach(new McpServer(INFO), { providerFor: () => [] } as never);
  expect(attach).toThrow('There is no option providerFor; did you mean providersFor?');
});

const providerOf = (name: string, visible = false): ToolProvider => ({
  listToolMetadata: () => [{ name, description: `Does ${name} things`, visible }],
  getTool: () => ({ name, inputSchema: OBJECT }),
  callTool: () => ({ content: [{ type: 'text', text: name }] }),
});

it('a client of version 1 that sends nonsense for arguments gets an error result', async () => {
  const client = (await attached(new V1McpServer(INFO))) as unknown as V1Client;
  for (const name of ['hidden', 'tool_search', 'execute_tool']) {
    const request = { method: 'tools/call' as const, params: { name, arguments: 5 as never } };
    const result = await client.request(request, CallToolResultSchema);
    expect(errorOf(result)).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', tool: name });
  }
});

describe("a server's own tools", () => {
  const own = () => ({ content: [{ type: 'text' as const, text: 'own' }] });

  it('that cannot be listed now do not stand in the way', async () => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => Promise.reject(new Error('not now')));
    server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'own' }] }));
    const client = await attached(server);
    expect(textOf(await client.callTool({ name: 'hidden' }))).toBe('from the registry');
    expect(textOf(await client.callTool({ name: 'other' }))).toBe('own');
    await expect(client.listTools()).rejects.toThrow('not now');
  });

  it('stand beside those of the registry and win if names are equal (version 1)', async () => {
    const server = new V1McpServer(INFO);
    server.registerTool('hidden', { description: 'Not hidden at all', inputSchema: { n: z.number() } }, ({ n }) => ({
      content: [{ type: 'text', text: `own ${n}` }],
    }));
    const client = await attached(server);
    server.registerTool('later', {}, () => ({ content: [{ type: 'text', text: 'later' }] }));
    // Known to be the server's before the first listing.
    expect(textOf(await client.callTool({ name: 'hidden', arguments: { n: 1 } }))).toBe('own 1');
    expect(await namesOf(client)).toEqual(['hidden', 'later', 'shown', 'tool_search', 'execute_tool']);
    expect(textOf(await client.callTool({ name: 'later' }))).toBe('later');
    expect(textOf(await execute(client, 'hidden'))).toBe('from the registry');
    expect(errorOf(await execute(client, 'later')).message).toContain('call it directly');
    expect(() => server.registerTool('tool_search', {}, () => ({ content: [] }))).toThrow('already registered');
  });

  it('stand beside those of the registry and win if names are equal (version 2)', async () => {
    const server = new McpServer(INFO);
    server.registerTool('hidden', { inputSchema: z.object({ n: z.number() }) }, ({ n }) => ({
      content: [{ type: 'text', text: `own ${n}` }],
    }));
    const client = await attached(server);
    server.registerTool('later', {}, () => ({ content: [{ type: 'text', text: 'later' }] }));
    expect(textOf(await client.callTool({ name: 'hidden', arguments: { n: 1 } }))).toBe('own 1');
    expect(await namesOf(client)).toEqual(['hidden', 'later', 'shown', 'tool_search', 'execute_tool']);
    expect(textOf(await client.callTool({ name: 'later' }))).toBe('later');
    await expect(client.callTool({ name: 'nobody_has_this' })).rejects.toMatchObject({ code: -32602 });
  });

  it('may be set after the registry was attached', async () => {
    const one = new V1Server(INFO, { capabilities: { tools: {} } });
    registryOf().attach(one);
    one.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'own', inputSchema: OBJECT }] }));
    one.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: 'text', text: 'own' }] }));
    const two = new Server(INFO, { capabilities: { tools: {} } });
    registryOf().attach(two);
    two.setRequestHandler('tools/list', () => ({ tools: [{ name: 'own', inputSchema: OBJECT }] }));
    two.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'own' }] }));
    for (const server of [one, two]) {
      const client = await connect(server);
      expect(textOf(await client.callTool({ name: 'hidden' }))).toBe('from the registry');
      expect(await namesOf(client)).toEqual(['own', 'shown', 'tool_search', 'execute_tool']);
      expect(textOf(await client.callTool({ name: 'own' }))).toBe('own');
    }
  });

  it('may come in pages; ours are on the first', async () => {
    const server = new V1Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
      params?.cursor === undefined
        ? { tools: [{ name: 'first', inputSchema: OBJECT }], nextCursor: 'more' }
        : { tools: [{ name: 'second', inputSchema: OBJECT }] },
    );
    const client = await attached(server);
    const page = await client.listTools();
    expect(page.tools.map(({ name }) => name)).toEqual(['first', 'shown', 'tool_search', 'execute_tool']);
    expect(page.nextCursor).toBe('more');
    expect((await client.listTools({ cursor: 'more' })).tools.map(({ name }) => name)).toEqual(['second']);
  });

  it('win on whatever page they are', async () => {
    const server = new V1Server(INFO, { capabilities: { tools: {} } });
    let lists = 0;
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      lists++;
      return params?.cursor === undefined
        ? { tools: [{ name: 'first', inputSchema: OBJECT }], nextCursor: 'more' }
        : { tools: [{ name: 'shown', inputSchema: OBJECT }] };
    });
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
      content: [{ type: 'text', text: `own ${params.name}` }],
    }));
    const client = await attached(server);
    const call = async () => textOf(await client.callTool({ name: 'shown' }));
    expect(await call()).toBe('own shown');
    expect(lists).toBe(2);
    expect(await namesOf(client)).toEqual(['first', 'tool_search', 'execute_tool']);
    expect(await call()).toBe('own shown');
    await client.listTools({ cursor: 'more' });
    expect(await call()).toBe('own shown');
    expect(lists).toBe(4);
  });

  it('that have no last page do not hold up the others', async () => {
    const server = new V1Server(INFO, { capabilities: { tools: {} } });
    let lists = 0;
    server.setRequestHandler(ListToolsRequestSchema, () => {
      lists++;
      return { tools: [{ name: `own_${lists}`, inputSchema: OBJECT }], nextCursor: `page ${lists}` };
    });
    const client = await attached(server);
    expect(await namesOf(client)).toEqual(['own_1', 'shown', 'tool_search', 'execute_tool']);
    expect(lists).toBe(DEFAULTS.limits.listPages);
  });

  it.each([
    ['version 1', () => new V1McpServer(INFO)],
    ['version 2', () => new McpServer(INFO)],
  ])('win also if they are added later, and free their names when removed (%s)', async (_, create) => {
    const server = create() as V1McpServer;
    const own = (text: string) => () => ({ content: [{ type: 'text' as const, text }] });
    server.registerTool('other', {}, own('other'));
    const client = await attached(server as AttachableServer);
    const call = async () => textOf(await client.callTool({ name: 'hidden' }));
    expect(await call()).toBe('from the registry');
    const tool = server.registerTool('hidden', {}, own('own'));
    expect(await call()).toBe('own');
    tool.remove();
    expect(await call()).toBe('from the registry');
  });

  it.each([
    ['version 1', new V1McpServer(INFO), (server: V1McpServer) => server.registerTool('execute_tool', {}, own)],
    ['version 2', new McpServer(INFO), (server: McpServer) => server.registerTool('execute_tool', {}, own)],
  ] as const)(
    'keep a name that attach needs, which is said, and nothing else is taken (%s)',
    async (_, server, add) => {
      add(server as never);
      expect(() => registryOf().attach(server)).toThrow(
        "execute_tool is already registered. attach() adds tool_search and execute_tool; give the server's own tool another name.",
      );
      expect(await namesOf(await connect(server))).toEqual(['execute_tool']);
    },
  );

  it('are those of a real server; anything else is refused', () => {
    expect(() => registryOf().attach({} as never)).toThrow('McpServer or Server');
    expect(() => registryOf().attach({ setRequestHandler() {} } as never)).toThrow('McpServer or Server');
  });
});

describe('tool_search and execute_tool', () => {
  const call = async (name: string, args: Record<string, unknown>, options?: AttachOptions, registry?: ToolRegistry) =>
    (await attached(new McpServer(INFO), options, registry)).callTool({ name, arguments: args });

  it('answer with a JSON array, and say in a second text what could not be searched', async () => {
    const registry = registryOf();
    registry.addProvider({
      ...providerOf('x'),
      name: 'crm',
      listToolMetadata: () => Promise.reject(new Error('down')),
    });
    const { content } = (await call('tool_search', { query: 'hidden' }, {}, registry)) as {
      content: { text: string }[];
    };
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject([{ name: 'hidden', score: 1, input_schema: OBJECT }]);
    expect(content[1]?.text).toBe('Not everything could be searched: crm could not be asked (down)');
  });

  it('give compact answers where the server wants them', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'a', description: '', inputSchema: z.object({ n: z.number() }) }, () => '');
    expect(JSON.parse(textOf(await call('tool_search', { query: 'a' }, { compact: true }, registry)))).toEqual([
      { name: 'a', description: '', score: 1, args: 'n: number' },
    ]);
  });

  it.each([
    ['tool_search', {}],
    ['tool_search', { query: 5 }],
    ['tool_search', { query: 'x', max_results: 0 }],
    ['tool_search', { query: 'x', max_results: 'many' }],
    ['execute_tool', {}],
    ['execute_tool', { name: '' }],
    ['execute_tool', { name: 'hidden', arguments: [1] }],
  ])('%s refuses %o and says what to fix', async (name, args) => {
    const result = await call(name, args);
    expect(result).toMatchObject({ isError: true });
    expect(errorOf(result)).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', tool: name });
  });

  it.each([[{ query: 'thing', max_results: '1' }], [{ query: 'thing', max_results: 1.9 }]])(
    'tool_search takes %o as it was meant',
    async (args) => {
      expect(JSON.parse(textOf(await call('tool_search', args)))).toHaveLength(1);
    },
  );

  it('execute_tool takes arguments that were sent as text', async () => {
    const registry = new ToolRegistry();
    registry.registerTool(
      { name: 'echo', description: '', inputSchema: z.object({ say: z.string() }) },
      ({ say }) => say,
    );
    expect(textOf(await call('execute_tool', { name: 'echo', arguments: '{"say":"hi"}' }, {}, registry))).toBe('hi');
  });

  it('execute_tool takes arguments that stand beside the name', async () => {
    const registry = new ToolRegistry();
    registry.registerTool(
      { name: 'echo', description: '', inputSchema: z.object({ say: z.string() }) },
      ({ say }) => say,
    );
    expect(textOf(await call('execute_tool', { name: 'echo', say: 'hi' }, {}, registry))).toBe('hi');
    const both = { name: 'echo', say: 'beside', arguments: { say: 'inside' } };
    expect(textOf(await call('execute_tool', both, {}, registry))).toBe('inside');
  });

  it('execute_tool says that the two are in the tool list', async () => {
    const refused = await call('execute_tool', { name: 'tool_search', arguments: { query: 'x' } });
    expect(errorOf(refused).message).toBe(
      '"tool_search" is in your tool list: call it directly, without execute_tool.',
    );
  });

  it('tool_search says what to do where it finds nothing', async () => {
    const { content } = (await call('tool_search', { query: 'qwertz uiopü' })) as { content: { text: string }[] };
    expect(content[0]?.text).toBe('[]');
    expect(content[1]?.text).toContain('Describe in other words what the tool should do');
  });

  it('execute_tool passes everything on that a tool returns', async () => {
    const whole = {
      content: [{ type: 'image' as const, data: 'aGk=', mimeType: 'image/png' }],
      structuredContent: { a: 1 },
      _meta: { trace: 'x' },
    };
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'whole', description: '' }, () => whole);
    expect(await call('execute_tool', { name: 'whole' }, {}, registry)).toEqual(whole);
  });

  it('execute_tool lets a tool ask its user', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'ask', description: '' }, (_, { request }) => {
      const { mcpReq } = (request as ToolRequest).sdk as { mcpReq: { inputResponses?: never } };
      const answer = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'who');
      if (answer !== undefined) return `Hello, ${answer.name}!`;
      const schema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
      return inputRequired({
        inputRequests: { who: inputRequired.elicit({ message: 'Who are you?', requestedSchema: schema }) },
      }) as never;
    });
    const server = new McpServer(INFO);
    registry.attach(server);
    const [near, far] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'client', version: '1.0.0' }, { capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
    await Promise.all([server.connect(near), client.connect(far)]);
    expect(textOf(await execute(client as never, 'ask'))).toBe('Hello, Ada!');
  });
});

describe('tools/list', () => {
  it('is private where a request has tools of its own', async () => {
    const registry = registryOf();
    const handler = createMcpHandler(() => {
      const server = new McpServer(INFO, { cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } } });
      registry.attach(server);
      return server;
    });
    const list = async () => {
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/list',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/list',
          params: {
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
              'io.modelcontextprotocol/clientInfo': { name: 'client', version: '1.0.0' },
            },
          },
        }),
      });
      return ((await (await handler.fetch(request)).json()) as { result: { tools: { name: string }[] } }).result;
    };
    expect(await list()).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
    const own = await withRequestProviders(providerOf('mine', true), list);
    expect(own).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    expect(own.tools.map(({ name }) => name)).toEqual(['mine', 'shown', 'tool_search', 'execute_tool']);
    await handler.close();
  });

  /** A client that counts how often the list of a server has changed. */
  const listening = async (registry: ToolRegistry) => {
    const server = new McpServer(INFO);
    registry.attach(server);
    const [near, far] = InMemoryTransport.createLinkedPair();
    let count = 0;
    const client = new Client(
      { name: 'client', version: '1.0.0' },
      { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void count++ } } },
    );
    await Promise.all([server.connect(near), client.connect(far)]);
    return { client, changes: () => count };
  };

  it('has changed when visible tools of providers come and go, and then only', async () => {
    const registry = registryOf();
    const { client, changes } = await listening(registry);
    const settle = () => new Promise((resolve) => setTimeout(resolve, 20));
    const seen = providerOf('seen', true);
    const unseen = providerOf('unseen');
    registry.addProvider(seen);
    registry.addProvider(unseen);
    await client.listTools();
    await settle();
    expect(changes()).toBe(1);
    registry.removeProvider(unseen);
    registry.registerTool({ name: 'another', description: '' }, () => '');
    await settle();
    expect(changes()).toBe(1);
    registry.removeProvider(seen);
    await settle();
    expect(changes()).toBe(2);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('seen');
  });

  it('does not wait for a slow provider where there is something to show, and has changed when its tools come', async () => {
    const registry = new ToolRegistry({ providers: { waitMs: 20_000 } });
    registry.registerTool({ name: 'shown', description: 'Shown', visible: true }, () => 'shown');
    let answer: (tools: { name: string; visible: boolean; inputSchema: object }[]) => void = () => {};
    registry.addProvider({
      ...providerOf('late', true),
      listToolMetadata: () => new Promise((resolve) => (answer = resolve as typeof answer)),
    });
    const { client, changes } = await listening(registry);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const start = performance.now();
    expect(await names()).toEqual(['shown', 'tool_search', 'execute_tool']);
    expect(performance.now() - start).toBeLessThan(2_000);
    answer([{ name: 'late', visible: true, inputSchema: OBJECT }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(changes()).toBe(1);
    expect(await names()).toEqual(['late', 'shown', 'tool_search', 'execute_tool']);
  });

  it('waits for the tools of the request, and where there is nothing else to show', async () => {
    const late = (name: string): ToolProvider => ({
      ...providerOf(name, true),
      listToolMetadata: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return [{ name, visible: true }];
      },
    });
    const registry = registryOf();
    const client = await attached(new McpServer(INFO), { providersFor: () => late('mine') }, registry);
    expect(await namesOf(client)).toContain('mine');
    const empty = new ToolRegistry();
    empty.addProvider(late('only'));
    expect(await namesOf(await attached(new McpServer(INFO), {}, empty))).toContain('only');
  });

  it("reports a failed notification to the server's error handler", async () => {
    const registry = registryOf();
    const server = new Server(INFO);
    registry.attach(server);
    await connect(server);
    const errors: Error[] = [];
    server.onerror = (error) => void errors.push(error);
    server.sendToolListChanged = () => Promise.reject(new Error('gone'));
    registry.unregisterTool('shown');
    await new Promise((resolve) => setImmediate(resolve));
    expect(errors.map(({ message }) => message)).toEqual(['gone']);
  });

  it('leaves out tools that their provider cannot describe', async () => {
    const registry = registryOf();
    registry.addProvider({ ...providerOf('mute', true), getTool: () => Promise.reject(new Error('no')) });
    expect(await namesOf(await attached(new McpServer(INFO), {}, registry))).not.toContain('mute');
  });
});

describe('many servers', () => {
  it('one for each request, leave nothing behind', async () => {
    const registry = registryOf();
    for (let request = 0; request < 2_000; request++) registry.attach(new McpServer(INFO));
    registry.registerTool({ name: 'news', description: '', visible: true }, () => '');
    await Promise.resolve();
    expect(await namesOf(await attached(new McpServer(INFO), {}, registry))).toContain('news');
  });
});

it.each(SERVERS)('one bad entry of a provider costs %s only itself, also if it changes later', async (_, make) => {
  const late = { type: 'object', properties: {} as Record<string, unknown> };
  const bad = [
    { name: 'number', inputSchema: { type: 'object', properties: { a: { default: 10n } } } },
    { name: 'hints', annotations: { title: 5, readOnlyHint: 'yes' }, inputSchema: OBJECT },
    { name: 'array', inputSchema: { type: 'array' } },
    { name: 'late', inputSchema: late },
  ].map((tool) => ({ ...tool, description: 'bad one', visible: true }));
  const registry = registryOf();
  registry.addProvider({ ...providerOf('x'), listToolMetadata: () => bad as never });
  const client = await attached(make(), undefined, registry);
  await client.listTools();
  Object.defineProperty(late.properties, 'z', {
    enumerable: true,
    get: () => {
      throw new Error('late');
    },
  });
  const names = await namesOf(client);
  expect(names).toEqual(expect.arrayContaining(['hints', 'late', 'number']));
  expect(names).not.toContain('array');
  expect(textOf(await client.callTool({ name: 'tool_search', arguments: { query: 'bad one' } }))).toContain('hints');
  expect((await registry.search('bad')).notes.join()).toContain('("array": inputSchema.type is not "object")');
});
