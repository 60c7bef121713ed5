/** What users of a profile hear of the servers that others have, where servers are exposed under their own names. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Era, sdkClient, tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { itemsServer, WORLD } from '../../test/fixtures/items-world.ts';
import { StaticTokens } from '../auth/static-tokens.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { exposedServersSurface, exposedSurface, serveGatewayOnHttp } from './index.ts';

const HOUR = 3_600_000;
const WATCHED = 'docs://handbook/holidays';

let home: ReturnType<typeof tempFolder>;
let state: ReturnType<typeof tempFolder>;
beforeEach(() => {
  home = tempFolder();
  state = tempFolder();
});
afterEach(() => {
  home[Symbol.dispose]();
  state[Symbol.dispose]();
});

/** A gateway whose profile `team` has the server and whose profile `guests` has none. */
async function gateway(surfaceOf: (engine: EngineCore) => Parameters<typeof serveGatewayOnHttp>[1]['surface']) {
  const docs = itemsServer(home, WORLD, '--legacy-only');
  const tokens = new StaticTokens(state.path);
  const config = {
    cache: { enabled: false },
    servers: [docs.entry],
    profiles: { team: {}, guests: { servers: [] } },
  };
  const engine = new EngineCore(config as never, { env: { ANYGPT_HOME: state.path } });
  await tokens.create({ expiresAt: Date.now() + HOUR });
  await engine.loaded();
  const served = await serveGatewayOnHttp(engine, { port: 0, surface: surfaceOf(engine), accessLog: () => {} });
  const connect = async (era: Era, profile: string) => {
    const { text } = await tokens.create({ expiresAt: Date.now() + HOUR, profile });
    const client = sdkClient(era);
    const requestInit = { headers: { Authorization: `Bearer ${text}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(served.url), { requestInit }) as never);
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    const watch = async (uri: string) => {
      if (era === 'modern') return void (await client.listen({ resourceSubscriptions: [uri] }));
      await client.subscribeResource({ uri });
    };
    const watchMany = async (uris: string[]) => {
      if (era === 'modern') await client.listen({ resourceSubscriptions: uris });
      else for (const uri of uris) await client.subscribeResource({ uri }).catch(() => {});
    };
    return { client, heard, watch, watchMany };
  };
  const close = () => served.close().then(() => engine.close());
  return { docs, connect, [Symbol.asyncDispose]: close };
}

describe.each<Era>(['legacy', 'modern'])('a %s client whose profile does not have a server', (era) => {
  it('neither subscribes to its resources nor hears of them, before and while others watch them', async () => {
    await using open = await gateway((engine) => exposedServersSurface(engine, ['docs']));
    const { docs, connect } = open;
    const uri = `anygpt://docs/${WATCHED}`;
    const subscribed = () => docs.journal().filter(([method]) => method === 'resources/subscribe').length;
    const early = await connect(era, 'guests');
    await early.watch(uri).catch(() => {});
    const member = await connect(era, 'team');
    expect(subscribed()).toBe(0);
    await member.watch(uri);
    const late = await connect(era, 'guests');
    await late.watch(uri).catch(() => {});
    let tick = 0;
    await expect
      .poll(
        () => {
          docs.write({ ...WORLD, updated: WATCHED, tick: tick++ });
          return member.heard.length;
        },
        { timeout: 10_000, interval: 200 },
      )
      .toBeGreaterThan(2);
    expect([early.heard, late.heard]).toEqual([[], []]);
    expect(subscribed()).toBe(1);
    await Promise.all([early, late, member].map(({ client }) => client.close()));
  });
});

describe('a client of one server shown 1:1', () => {
  it('whose profile does not have it subscribes to nothing there', async () => {
    await using open = await gateway((engine) => exposedSurface(engine, 'docs'));
    const { docs, connect } = open;
    const member = await connect('modern', 'team');
    await member.watch(WATCHED);
    const subscribed = () => docs.journal().filter(([method]) => method === 'resources/subscribe').length;
    // The subscription goes on to the server after the client has its answer.
    await expect.poll(subscribed).toBe(1);
    const { length } = docs.journal();
    const guest = await connect('modern', 'guests').catch(() => undefined);
    await guest?.watch(WATCHED).catch(() => {});
    expect(guest?.heard ?? []).toEqual([]);
    expect(docs.journal().slice(length)).toEqual([]);
    await member.client.close();
  });
});

it.each<Era>(['legacy', 'modern'])(
  'a %s client that watches as many resources as it can leaves room to others, also at the same server',
  async (era) => {
    await using open = await gateway((engine) => exposedServersSurface(engine, ['docs']));
    const { docs, connect } = open;
    const greedy = await connect(era, 'team');
    for (let times = 0; times < 2; times++)
      await greedy.watchMany(Array.from({ length: 700 }, (_, at) => `anygpt://docs/docs://greedy/${times}/${at}`));
    const subscribed = (uri: string) =>
      docs.journal().filter(([method, params]) => method === 'resources/subscribe' && params?.uri === uri).length;
    await expect.poll(() => subscribed('docs://greedy/0/699'), { timeout: 20_000 }).toBe(1);
    const modest = await connect('modern', 'team');
    await modest.watch(`anygpt://docs/${WATCHED}`);
    await expect.poll(() => subscribed(WATCHED), { timeout: 10_000 }).toBe(1);
    expect(docs.journal().filter(([method]) => method === 'resources/subscribe')).toHaveLength(1_001);
    await Promise.all([greedy, modest].map(({ client }) => client.close()));
  },
  60_000,
);

it('a stream that waits for changes warns of no leak', async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on('warning', note);
  await using open = await gateway((engine) => exposedServersSurface(engine, ['docs']));
  const { client, watch } = await open.connect('modern', 'team');
  await watch(`anygpt://docs/${WATCHED}`);
  await client.close();
  process.off('warning', note);
  expect(warnings).toEqual([]);
});
