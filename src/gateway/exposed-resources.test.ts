import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Era,
  engineWith,
  rawClient,
  sdkClient,
  streamTransport,
  tempFolder,
} from '../../test/fixtures/gateway/kit.ts';
import { itemsServer, overHttp, WORLD } from '../../test/fixtures/items-world.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { exposedServersSurface, exposedSurface, serveGatewayOnHttp, serveGatewayOnStdio } from './index.ts';

const WATCHED = 'docs://handbook/holidays';
const DENIED = 'docs://handbook/expenses';
let home: ReturnType<typeof tempFolder>;
beforeEach(() => {
  home = tempFolder();
});
afterEach(() => home[Symbol.dispose]());

const engineOf = (entry: object): EngineCore & AsyncDisposable =>
  engineWith({ servers: [entry], toolRules: [{ pattern: ['resource:*expenses'], enabled: false }] });

async function connect(
  engine: EngineCore,
  era: Era,
  transport: 'stdio' | 'HTTP',
  surface = exposedSurface(engine, 'docs'),
) {
  const client = sdkClient(era);
  if (transport === 'HTTP') {
    const served = await serveGatewayOnHttp(engine, { port: 0, surface });
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url)) as never);
    return { client, [Symbol.asyncDispose]: () => client.close().then(() => served.close()) };
  }
  const { input, output } = rawClient();
  const served = serveGatewayOnStdio(engine, { input, output, surface });
  await client.connect(streamTransport(input, output) as never);
  return { client, [Symbol.asyncDispose]: () => served.close() };
}

describe.each<Era>(['legacy', 'modern'])('the resources of one server, shown 1:1 to a %s client', (era) => {
  describe.each(['stdio', 'HTTP'] as const)('over %s', (transport) => {
    it.each(['--legacy-only', '--modern-only', '--http'])('are watched on a server started with %s', async (flag) => {
      const { entry, file, write, journal } = itemsServer(home, WORLD, flag);
      using remote = flag === '--http' ? await overHttp(file) : undefined;
      await using engine = engineOf(remote ? { name: 'docs', connection: remote.connection } : entry);
      await using open = await connect(engine, era, transport);
      const { client } = open;
      const heard: string[] = [];
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
      const subscription =
        era === 'modern' ? await client.listen({ resourceSubscriptions: [WATCHED, DENIED] }) : undefined;
      if (!subscription) {
        await client.subscribeResource({ uri: WATCHED });
        await expect(client.subscribeResource({ uri: DENIED })).rejects.toThrow('rule');
      }
      let tick = 0;
      await expect
        .poll(
          () => {
            write({ ...WORLD, updated: WATCHED, tick: tick++ });
            return heard;
          },
          { timeout: 10_000, interval: 200 },
        )
        .toContain(WATCHED);
      if (subscription) await subscription.close();
      else await client.unsubscribeResource({ uri: WATCHED });
      if (flag !== '--legacy-only') return;
      const asked = () => journal().flatMap(([method, params]) => (/sub/.test(method) ? [[method, params?.uri]] : []));
      const both = [
        ['resources/subscribe', WATCHED],
        ['resources/unsubscribe', WATCHED],
      ];
      await expect.poll(asked, { timeout: 5_000 }).toEqual(both);
    });
  });
});

describe('what may not be used of one server, shown 1:1', () => {
  const refused = (message: string) => expect.objectContaining({ message: expect.stringContaining(message) });
  const waiting = (id: string) => refused(`A person has to look at it and run \`anygpt mcp approve ${id}\``);

  it('is refused in subscriptions and completions with what a person has to type for its approval', async () => {
    const { entry } = itemsServer(home, WORLD);
    await using engine = engineOf({ ...entry, approval: 'all' });
    await using open = await connect(engine, 'legacy', 'stdio');
    const { client } = open;
    await expect(client.subscribeResource({ uri: WATCHED })).rejects.toEqual(waiting(`docs:resource:${WATCHED}`));
    await using several = await connect(engine, 'legacy', 'stdio', exposedServersSurface(engine, ['docs']));
    const ref = { type: 'ref/prompt' as const, name: 'docs__summarise' };
    const completion = several.client.complete({ ref, argument: { name: 'chapter', value: '' } });
    await expect(completion).rejects.toEqual(waiting('docs:prompt:summarise'));
  });

  it.each<Era>(['legacy', 'modern'])('is decided for the profile of each %s client that listens', async (era) => {
    const { entry, journal } = itemsServer(home, WORLD, '--legacy-only');
    const toolRules = [{ pattern: ['resource:*holidays'], enabled: false }];
    await using engine = engineWith({ servers: [entry], profiles: { team: { toolRules } } });
    await using served = await servedOverHttp(engine);
    await using all = await clientAt(served.url, era);
    await using team = await clientAt(`${served.url}/p/team`, era);
    const watched = () => journal().flatMap(([method, params]) => (/\/sub/.test(method) ? [params?.uri] : []));
    if (era === 'legacy') {
      await all.client.subscribeResource({ uri: WATCHED });
      await expect(team.client.subscribeResource({ uri: WATCHED })).rejects.toEqual(refused('There is no resource'));
    } else {
      await team.client.listen({ resourceSubscriptions: [WATCHED, DENIED] });
      await expect.poll(watched, { timeout: 10_000 }).toEqual([DENIED]);
      await all.client.listen({ resourceSubscriptions: [WATCHED] });
    }
    await expect.poll(watched, { timeout: 10_000 }).toContain(WATCHED);
  });
});

async function servedOverHttp(engine: EngineCore) {
  const served = await serveGatewayOnHttp(engine, { port: 0, surface: exposedSurface(engine, 'docs') });
  return { url: served.url, [Symbol.asyncDispose]: () => served.close() };
}

async function clientAt(url: string, era: Era) {
  const client = sdkClient(era);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

describe('the reads of one server, shown 1:1', () => {
  it('keep the answer of the server, and its errors', async () => {
    const contents = { [WATCHED]: { contents: [{ uri: WATCHED, mimeType: 'text/plain', text: 'x'.repeat(200_000) }] } };
    const { entry } = itemsServer(home, { ...WORLD, contents });
    await using engine = engineOf(entry);
    await using open = await connect(engine, 'legacy', 'stdio');
    expect(await open.client.readResource({ uri: WATCHED })).toMatchObject(contents[WATCHED] as object);
    await expect(open.client.readResource({ uri: 'docs://none' })).rejects.toThrow('not found: docs://none');
  });
});
