/** Profiles of one gateway that show their clients different things: nothing crosses. */
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Era,
  jsonOf,
  rawClient,
  sdkClient,
  streamTransport,
  tempFolder,
  textOf,
} from '../../test/fixtures/gateway/kit.ts';
import { itemsServer, WORLD } from '../../test/fixtures/items-world.ts';
import { StaticTokens } from '../auth/static-tokens.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { META_TOOL_NAMES } from '../meta-tools/meta-tools.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { discoverySurface } from './discovery-surface.ts';
import { serveGatewayOnHttp } from './serve-http.ts';
import { serveGatewayOnStdio } from './serve-stdio.ts';

const HOLIDAYS = 'docs://handbook/holidays';
const EXPENSES = 'docs://handbook/expenses';
const SHOWN = `anygpt://docs/${HOLIDAYS}`;
const DAY = 24 * 3_600_000;

let home: ReturnType<typeof tempFolder>;
let payroll: TestServer;
beforeEach(async () => {
  home = tempFolder();
  payroll = await startTestServer({
    tools: { pay_salary: { call: () => 'paid' }, erase_payments: { call: () => 'erased' } },
  });
});
afterEach(async () => {
  await payroll.close();
  home[Symbol.dispose]();
});

const PROFILES = {
  readers: {
    servers: ['docs'],
    expose: ['docs', 'payroll'],
    toolRules: [{ pattern: ['resource:*expenses'], enabled: false }],
  },
  payers: {
    servers: ['payroll'],
    expose: ['pay*'],
    metaTools: false,
    toolRules: [{ pattern: ['erase_*'], enabled: false }],
  },
  strict: { servers: ['docs'], expose: ['docs'], toolRules: [{ pattern: ['resource:*'], enabled: false }] },
  plain: { servers: ['docs'] },
};

/** One gateway with both servers, and the configuration it reads again on a reload. */
function gateway(more: object = {}) {
  const contents = {
    [HOLIDAYS]: { contents: [{ uri: HOLIDAYS, text: '30 days' }] },
    [EXPENSES]: { contents: [{ uri: EXPENSES, text: 'none' }] },
    summarise: { messages: [{ role: 'user', content: { type: 'text', text: 'Summarise {chapter}.' } }] },
  };
  const docs = itemsServer(home, { ...WORLD, contents });
  const servers = [docs.entry, { name: 'payroll', connection: payroll.connection }];
  const config = { cache: { enabled: false }, servers, profiles: { ...PROFILES } as Record<string, object>, ...more };
  const engine = new EngineCore(config as never, { env: { ANYGPT_HOME: home.path } });
  return {
    docs,
    config,
    engine,
    update: () => docs.write({ ...WORLD, contents, updated: HOLIDAYS, tick: Math.random() }),
  };
}

async function overHttp(engine: EngineCore) {
  const tokens = new StaticTokens(home.path);
  await tokens.create({ expiresAt: Date.now() + DAY });
  const served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine) });
  const clients: { close(): Promise<void> }[] = [];
  const connect = async (era: Era, profile?: string) => {
    const { text } = await tokens.create({ expiresAt: Date.now() + DAY, ...(profile && { profile }) });
    const client = sdkClient(era);
    const requestInit = { headers: { Authorization: `Bearer ${text}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url), { requestInit }) as never);
    clients.push(client);
    return client;
  };
  const close = async () => {
    for (const client of clients) await client.close();
    await served.close();
    await engine.close();
  };
  return { connect, [Symbol.asyncDispose]: close };
}

async function overStdio(engine: EngineCore, era: Era, profile: string) {
  await engine.loaded();
  const { input, output } = rawClient();
  const served = serveGatewayOnStdio(engine, { input, output, surface: discoverySurface(engine, profile) });
  const client = sdkClient(era);
  await client.connect(streamTransport(input, output) as never);
  return { client, [Symbol.asyncDispose]: () => served.close().then(() => engine.close()) };
}

type Client = ReturnType<typeof sdkClient>;
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
const call = (client: Client, name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: args });

/** What a client of `readers` sees and may do. */
async function isReader(client: Client) {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([...META_TOOL_NAMES, 'docs__changed', 'docs__nothing']);
  expect(JSON.stringify(tools)).not.toContain('payroll');
  expect(tools.find(({ name }) => name === 'search_tools')?.description).toContain('in docs');
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['docs__summarise']);
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([SHOWN]);
  expect((await client.readResource({ uri: SHOWN })).contents).toEqual([{ uri: SHOWN, text: '30 days' }]);
  const prompt = await client.getPrompt({ name: 'docs__summarise', arguments: { chapter: 'one' } });
  expect(prompt.messages[0]?.content).toMatchObject({ text: 'Summarise one.' });
  expect(textOf(await call(client, 'docs__nothing'))).toBe('done');
  expect(textOf(await call(client, 'list_mcp_servers'))).not.toContain('payroll');
  await expect(client.readResource({ uri: `anygpt://docs/${EXPENSES}` })).rejects.toThrow();
  await expect(call(client, 'payroll__pay_salary')).rejects.toMatchObject({ code: -32602 });
  await expect(client.readResource({ uri: 'anygpt://payroll/x' })).rejects.toMatchObject({ code: -32602 });
}

/** What a client of `payers` sees and may do. */
async function isPayer(client: Client) {
  expect(await namesOf(client)).toEqual(['payroll__pay_salary']);
  expect(textOf(await call(client, 'payroll__pay_salary'))).toBe('paid');
  expect(jsonOf(await call(client, 'payroll__erase_payments'))).toMatchObject({ success: false });
  for (const name of ['docs__nothing', 'search_tools', 'execute_tool'])
    await expect(call(client, name)).rejects.toMatchObject({ code: -32602 });
  for (const uri of [SHOWN, HOLIDAYS])
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
  await expect(client.getPrompt({ name: 'docs__summarise', arguments: { chapter: 'one' } })).rejects.toThrow();
  const ref = { type: 'ref/prompt' as const, name: 'docs__summarise' };
  await expect(client.complete({ ref, argument: { name: 'chapter', value: 'o' } })).rejects.toThrow();
  expect((await client.listResources()).resources).toEqual([]);
}

/** What a client sees whose profile exposes nothing. */
async function isPlain(client: Client) {
  expect(await namesOf(client)).toEqual([...META_TOOL_NAMES]);
  expect(client.getServerCapabilities()).not.toHaveProperty('resources');
  expect(jsonOf(await call(client, 'docs__nothing'))).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
  expect(textOf(await call(client, 'execute_tool', { server: 'docs', tool: 'nothing', arguments: {} }))).toBe('done');
}

describe.each<Era>(['legacy', 'modern'])('servers that a profile exposes, for %s clients', (era) => {
  it('are shown over HTTP to its users, and to nobody else', async () => {
    const { engine } = gateway();
    await using open = await overHttp(engine);
    const [reader, payer, plain, anybody] = await Promise.all(
      ['readers', 'payers', 'plain', undefined].map((profile) => open.connect(era, profile)),
    );
    // Cold and warm, one after the other and at once.
    for (let round = 0; round < 2; round++) {
      await isReader(reader as Client);
      await isPayer(payer as Client);
      await Promise.all([isPlain(plain as Client), isReader(reader as Client), isPayer(payer as Client)]);
    }
    expect(await namesOf(anybody as Client)).toEqual([...META_TOOL_NAMES]);
  });

  it('are shown on stdio, where serve has its name', async () => {
    for (const [profile, holds] of [
      ['readers', isReader],
      ['payers', isPayer],
      ['plain', isPlain],
    ] as const) {
      await using open = await overStdio(gateway().engine, era, profile);
      await holds(open.client);
    }
  });

  it('announce changes of resources to those who may read them', async () => {
    const { engine, update } = gateway();
    await using open = await overHttp(engine);
    const heard = new Map<string, string[]>();
    const listen = async (profile: string, uris: string[]) => {
      const client = await open.connect(era, profile);
      const own: string[] = [];
      heard.set(profile, own);
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => void own.push(params.uri));
      if (era === 'modern') return void (await client.listen({ toolsListChanged: true, resourceSubscriptions: uris }));
      for (const uri of uris) await client.subscribeResource({ uri }).catch(() => own.push('refused'));
    };
    await listen('readers', [SHOWN]);
    await listen('payers', [SHOWN]);
    await listen('strict', [SHOWN]);
    await expect
      .poll(
        () => {
          update();
          return heard.get('readers');
        },
        { timeout: 10_000, interval: 200 },
      )
      .toContain(SHOWN);
    // Somebody else watches the resource already: that opens it to nobody.
    for (const profile of ['payers', 'strict']) expect(heard.get(profile)).toEqual(era === 'modern' ? [] : ['refused']);
  });

  it('change with a reload, and clients are told', async () => {
    const { engine, config } = gateway();
    await using open = await overHttp(engine);
    const client = await open.connect(era, 'readers');
    let told = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => void told++);
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    expect(await namesOf(client)).toContain('docs__nothing');
    config.profiles.readers = { expose: ['payroll'], servers: ['docs', 'payroll'] };
    await engine.reload();
    await expect.poll(() => told, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await namesOf(client)).toEqual([...META_TOOL_NAMES, 'payroll__erase_payments', 'payroll__pay_salary']);
    await expect(client.readResource({ uri: SHOWN })).rejects.toMatchObject({ code: -32602 });
  });
});

describe('servers that a profile exposes', () => {
  it('are no more than the profile has: without the five tools there must be something else', async () => {
    const { engine } = gateway({ profiles: { none: { metaTools: false } } });
    await expect(engine.loaded()).rejects.toThrow('metaTools');
    await engine.close();
  });

  it('show nothing that waits for approval', async () => {
    const { engine, config } = gateway();
    (config.servers[0] as { approval?: string }).approval = 'all';
    await using open = await overHttp(engine);
    const client = await open.connect('legacy', 'readers');
    expect(await namesOf(client)).toEqual([...META_TOOL_NAMES]);
    expect((await client.listPrompts()).prompts).toEqual([]);
    expect(textOf(await call(client, 'docs__nothing'))).toContain('TOOL_NOT_APPROVED');
    await expect(client.readResource({ uri: SHOWN })).rejects.toThrow('approve');
    await expect(client.subscribeResource({ uri: SHOWN })).rejects.toThrow('approve');
  });

  it('leave the five tools when they are down, and stand beside pinned tools once', async () => {
    const down = { name: 'down', connection: { type: 'stdio', command: join(home.path, 'absent') } };
    const both = { name: 'payroll', connection: payroll.connection };
    const profiles = {
      down: { expose: ['down'] },
      pinned: { servers: ['payroll'], expose: ['payroll'], pinned: ['payroll:pay_salary'], metaTools: false },
    };
    const { engine } = gateway({ servers: [down, both], profiles });
    await using open = await overHttp(engine);
    expect(await namesOf(await open.connect('modern', 'down'))).toEqual([...META_TOOL_NAMES]);
    const pinned = await open.connect('modern', 'pinned');
    expect(await namesOf(pinned)).toEqual(['payroll__pay_salary', 'payroll__erase_payments']);
    expect(textOf(await call(pinned, 'payroll__pay_salary'))).toBe('paid');
  });
});
