import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Era,
  engineWith,
  rawClient,
  sdkClient,
  streamTransport,
  tempFolder,
  textOf,
} from '../../test/fixtures/gateway/kit.ts';
import { itemsServer, WORLD } from '../../test/fixtures/items-world.ts';
import { exposedServersSurface, serveGatewayOnHttp, serveGatewayOnStdio } from './index.ts';

type Client = ReturnType<typeof sdkClient>;
const RELAY = fileURLToPath(new URL('../../test/fixtures/relay-server.mjs', import.meta.url));
const HOLIDAYS = 'docs://handbook/holidays';
const APP = 'ui://docs/chart';

let home: ReturnType<typeof tempFolder>;
let other: ReturnType<typeof tempFolder>;
beforeEach(() => {
  home = tempFolder();
  other = tempFolder();
});
afterEach(() => {
  home[Symbol.dispose]();
  other[Symbol.dispose]();
});

const contentsOf = (uri: string, text: string) => ({ [uri]: { contents: [{ uri, text }] } });
const PROMPT = { messages: [{ role: 'user', content: { type: 'text', text: 'Summarise {chapter}.' } }] };

/** Two servers with the same resource, one with an app, and one with tools, prompts and questions. */
function entries({ sameApp = false } = {}) {
  const app = { uri: APP, name: 'chart', mimeType: 'text/html;profile=mcp-app' };
  const ours = itemsServer(home, {
    ...WORLD,
    resources: [...WORLD.resources, app],
    contents: { ...contentsOf(HOLIDAYS, 'ours'), ...contentsOf(APP, '<html>'), summarise: PROMPT },
  });
  const theirs = itemsServer(other, {
    ...WORLD,
    resources: sameApp ? [...WORLD.resources, app] : WORLD.resources,
    contents: contentsOf(HOLIDAYS, 'theirs'),
  });
  const relay = {
    type: 'stdio',
    command: process.execPath,
    args: [RELAY, join(home.path, 'journal'), '--legacy-only'],
  };
  return {
    ours,
    servers: [
      { ...ours.entry, name: 'docs' },
      { ...theirs.entry, name: 'docs__old' },
      { name: 'relay', connection: relay },
      { name: 'hidden', connection: relay },
    ],
  };
}

const NAMES = ['docs', 'docs__old', 'relay'];

async function connected(era: Era, config: object, { transport = 'stdio', capabilities = {} } = {}) {
  const engine = engineWith(config as Record<string, unknown>);
  const surface = exposedServersSurface(engine, NAMES);
  const client = sdkClient(era, capabilities);
  if (transport === 'HTTP') {
    const served = await serveGatewayOnHttp(engine, { port: 0, surface });
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)) as never);
    const close = () => client.close().then(() => served.close());
    return { client, engine, [Symbol.asyncDispose]: () => close().then(() => engine.close()) };
  }
  const { input, output } = rawClient();
  const served = serveGatewayOnStdio(engine, { input, output, surface });
  await client.connect(streamTransport(input, output) as never);
  return { client, engine, [Symbol.asyncDispose]: () => served.close().then(() => engine.close()) };
}

describe.each([
  ['legacy', 'stdio'],
  ['modern', 'stdio'],
  ['legacy', 'HTTP'],
  ['modern', 'HTTP'],
] as const)('several servers under their own names, for a %s client over %s', (era, transport) => {
  it('have tools, prompts and resources that say whose they are', async () => {
    const toolRules = [{ pattern: ['zebra'], enabled: false }];
    await using open = await connected(era, { servers: entries().servers, toolRules }, { transport });
    const { client } = open;
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    expect(tools).toContain('docs__changed');
    expect(tools).toContain('relay__ask');
    expect(tools).not.toContain('relay__zebra');
    expect(tools.filter((name) => name.startsWith('hidden'))).toEqual([]);
    const prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
    expect(prompts).toEqual(['docs__summarise', 'docs__old__summarise', 'relay__greet']);
    const resources = (await client.listResources()).resources.map(({ uri }) => uri);
    expect(resources).toContain(`anygpt://docs/${HOLIDAYS}`);
    expect(resources).toContain(`anygpt://docs__old/${HOLIDAYS}`);
    expect(resources).toContain(APP);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates[0]?.uriTemplate).toBe('anygpt://docs/docs://handbook/{chapter}');
  });

  it('are called and read where they belong', async () => {
    await using open = await connected(era, { servers: entries().servers }, { transport });
    const { client } = open;
    const read = async (uri: string) => (await client.readResource({ uri })).contents;
    for (const [server, text] of [
      ['docs', 'ours'],
      ['docs__old', 'theirs'],
    ]) {
      const uri = `anygpt://${server}/${HOLIDAYS}`;
      expect(await read(uri)).toEqual([{ uri, text }]);
    }
    expect(await read(APP)).toEqual([{ uri: APP, text: '<html>' }]);
    const prompt = await client.getPrompt({ name: 'docs__summarise', arguments: { chapter: 'one' } });
    expect(prompt.messages[0]?.content).toEqual({ type: 'text', text: 'Summarise one.' });
    expect(textOf(await client.callTool({ name: 'docs__old__nothing', arguments: {} }))).toBe('done');
    await expect(client.callTool({ name: 'hidden__zebra', arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await expect(read(HOLIDAYS)).rejects.toMatchObject({ code: -32602 });
  });

  it('link resources that can be read', async () => {
    await using open = await connected(era, { servers: entries().servers }, { transport });
    const { client } = open;
    const { content } = await client.callTool({ name: 'relay__link', arguments: {} });
    const [{ uri }] = content as unknown as [{ uri: string }];
    expect((await client.readResource({ uri })).contents).toEqual([{ uri, text: 'this is relay://linked' }]);
  });

  it('may ask the client', async () => {
    const capabilities = { elicitation: { form: {} } };
    await using open = await connected(era, { servers: entries().servers }, { transport, capabilities });
    const { client } = open;
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept' as const,
      content: { name: 'Ada' },
    }));
    expect(textOf(await client.callTool({ name: 'relay__ask', arguments: {} }))).toBe('hello Ada');
    const { messages } = await client.getPrompt({ name: 'relay__greet' });
    expect(messages[0]?.content).toMatchObject({ text: 'hello Ada' });
  });
});

describe('several servers under their own names', () => {
  it('join no subscription of a client to that of somebody whose profile has more', async () => {
    const { servers } = entries();
    const toolRules = [{ pattern: ['resource:*holidays'], enabled: false }];
    await using engine = engineWith({ servers, profiles: { team: { servers: ['docs'], toolRules } } });
    const served = await serveGatewayOnHttp(engine, { port: 0, surface: exposedServersSurface(engine, NAMES) });
    const clients = [served.url, `${served.url}/p/team`].map((url) => ({ url, client: sdkClient('legacy') }));
    for (const { url, client } of clients)
      await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    const [all, team] = clients.map(({ client }) => client) as [Client, Client];
    const uri = `anygpt://docs/${HOLIDAYS}`;
    await all.subscribeResource({ uri });
    await expect(team.subscribeResource({ uri })).rejects.toThrow('There is no resource');
    for (const { client } of clients) await client.close();
    await served.close();
  });

  it('that have the same app are told apart by an error, never by the wrong content', async () => {
    await using open = await connected('legacy', { servers: entries({ sameApp: true }).servers });
    await expect(open.client.readResource({ uri: APP })).rejects.toThrow('docs and docs__old');
  });

  it('announce changes of their resources', async () => {
    const { servers, ours } = entries();
    await using open = await connected('legacy', { servers });
    const heard: string[] = [];
    open.client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    const uri = `anygpt://docs/${HOLIDAYS}`;
    await open.client.subscribeResource({ uri });
    let tick = 0;
    await expect
      .poll(
        () => {
          ours.write({ ...WORLD, updated: HOLIDAYS, tick: tick++ });
          return heard;
        },
        { timeout: 10_000, interval: 200 },
      )
      .toContain(uri);
  });
});
