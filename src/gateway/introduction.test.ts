import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineWith, type Message, type RawClient, rawClient } from '../../test/fixtures/gateway/kit.ts';
import { LEGACY_VERSIONS, META, MODERN_VERSION } from '../connections/handshake.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { discoverySurface } from './discovery-surface.ts';
import { serveGatewayOnStdio } from './index.ts';
import { StdioLane } from './stdio-lane.ts';

/** In every request of the new protocol. */
const ENVELOPE = {
  [META.protocolVersion]: MODERN_VERSION,
  [META.clientInfo]: { name: 't', version: '0' },
  [META.clientCapabilities]: {},
};
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '0' } };

let engine: EngineCore;

beforeAll(() => {
  engine = engineWith({ servers: [{ name: 'one', connection: { type: 'stdio', command: 'never-started' } }] });
});
afterAll(() => engine.close());

/** A gateway; with `alone: false` the SDK answers everything that is no call. */
function gateway(alone = true): RawClient & AsyncDisposable {
  const client = rawClient();
  const { introduction, ...bySdk } = discoverySurface(engine);
  const surface = { ...bySdk, ...(alone && introduction && { introduction }) };
  const served = serveGatewayOnStdio(engine, { input: client.input, output: client.output, surface });
  return Object.assign(client, { [Symbol.asyncDispose]: () => served.close() });
}

/** What both kinds of gateway say to the same messages. */
async function both(talk: (client: RawClient) => Promise<unknown>): Promise<[alone: unknown, bySdk: unknown]> {
  await using alone = gateway();
  await using bySdk = gateway(false);
  return [await talk(alone), await talk(bySdk)];
}

describe('what a gateway says before it has loaded the SDK', () => {
  it.each([...LEGACY_VERSIONS, '2026-07-28', '1.0', ''])('is what the SDK says, to a client of %s', async (version) => {
    const [alone, bySdk] = await both(async (client) => [
      await client.ask(0, 'initialize', { ...HELLO, protocolVersion: version }),
      client.send({ method: 'notifications/initialized' }),
      await client.ask('list', 'tools/list'),
      await client.ask('list again', 'tools/list', { _meta: { progressToken: 1 } }),
      await client.ask(3, 'ping'),
    ]);
    expect(alone).toEqual(bySdk);
    expect(JSON.stringify(alone)).toContain('"search_tools"');
  });

  it('is what the SDK says, to a client of the new protocol', async () => {
    const _meta = ENVELOPE;
    const call = { name: 'execute_tool', arguments: { server: 'none', tool: 'none' } };
    const requests: [method: string, params: Record<string, unknown>][] = [
      ['server/discover', { _meta }],
      ['tools/list', { _meta }],
      ['tools/call', { ...call, _meta }],
      ['tools/list', { _meta, cursor: 7 }],
      ['prompts/list', { _meta }],
      ['ping', { _meta }],
      ['initialize', { ...HELLO, _meta }],
      ['tools/call', call],
      ['initialize', HELLO],
    ];
    for (const from of requests.keys()) {
      const [alone, bySdk] = await both(async (client) => {
        const said: Message[] = [];
        for (const [id, [method, params]] of requests.slice(from).entries())
          said.push(await client.ask(id, method, params));
        return said;
      });
      expect(alone).toEqual(bySdk);
    }
  });

  it('is what the SDK says whatever a request of the new protocol holds', { timeout: 60_000 }, async () => {
    const value = fc.constantFrom(undefined, 'x', '', {}, [], 5, true, MODERN_VERSION, HELLO.clientInfo);
    const keys = [...Object.values(META), 'progressToken', 'own', 'io.modelcontextprotocol/related-task'];
    const meta = fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 2 });
    const params = fc.record(
      { _meta: meta.map((more) => ({ ...ENVELOPE, ...more })), cursor: value, own: value },
      { requiredKeys: ['_meta'] },
    );
    const method = fc.constantFrom('server/discover', 'tools/list', 'ping', 'tools/call');
    await fc.assert(
      fc.asyncProperty(method, params, async (asked, given) => {
        const [alone, bySdk] = await both((client) => client.ask(0, asked, given));
        expect(alone).toEqual(bySdk);
      }),
      { numRuns: 300 },
    );
  });

  it('is what the SDK says whatever a greeting holds', { timeout: 60_000 }, async () => {
    const value = fc.oneof(fc.constant(undefined), fc.string(), fc.constant({}), fc.constant([]), fc.integer());
    const greeting = fc.record(
      {
        protocolVersion: fc.oneof(fc.constantFrom(...LEGACY_VERSIONS), value),
        capabilities: fc.oneof(
          fc.constantFrom({}, { roots: { listChanged: true } }, { elicitation: {}, sampling: {} }, { mine: {} }),
          fc.dictionary(
            fc.constantFrom('roots', 'elicitation', 'sampling', 'tasks', 'experimental', 'extensions', 'mine'),
            fc.dictionary(
              fc.constantFrom('listChanged', 'form', 'tools', 'list', 'x'),
              fc.constantFrom({}, true, 'yes', 5, null, { deep: 1 }),
              { maxKeys: 2 },
            ),
            { maxKeys: 2 },
          ),
          value,
        ),
        clientInfo: fc.oneof(
          fc.record({ name: fc.string(), version: fc.string(), title: value, icons: value, websiteUrl: value }),

          fc.constantFrom({ name: 'a', version: '1' }, { name: 'a', title: 'A', version: '1' }),
          value,
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(greeting, async (params) => {
        const [alone, bySdk] = await both((client) => client.ask(0, 'initialize', params));
        expect(alone).toEqual(bySdk);
      }),
      { numRuns: 300 },
    );
  });

  it("is followed by the SDK's answers, as if it had been loaded from the start", async () => {
    const [alone, bySdk] = await both(async (client) => {
      const said: Message[] = [await client.ask(0, 'initialize', HELLO)];
      client.send({ method: 'notifications/initialized' });
      client.send({ method: 'notifications/roots/list_changed' });
      client.send({ id: 'nobody asked', result: {} });
      // In one piece, so that the later ones come while the SDK is being loaded.
      client.write(
        [
          { id: 1, method: 'resources/list' },
          { id: 2, method: 'tools/list', params: { cursor: 7 } },
          { id: 3, method: 'tools/call', params: { name: 'nothing' } },
          { id: 4, method: 'ping' },
          { id: 5, method: 'initialize', params: HELLO },
        ]
          .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
          .join(''),
      );
      for (const id of [1, 2, 3, 4, 5]) said.push(await client.answer(id));
      // And nothing else was said.
      expect(client.seen).toHaveLength(6);
      return said;
    });
    expect(alone).toEqual(bySdk);
    expect(alone).toMatchObject([{}, { error: { code: -32601 } }, { error: { code: -32602 } }, {}, { result: {} }, {}]);
  });

  it('needs no SDK for a client of the new protocol', async () => {
    let woken = 0;
    const client = rawClient();
    const { introduction } = discoverySurface(engine);
    const handler = async () => ({ content: [] });
    const lane = new StdioLane({
      ...client,
      handler,
      maxMessageBytes: 1_000,
      serverInfo: {},
      introduction,
      wake: () => woken++,
    });
    lane.listen();
    for (const [id, method] of ['tools/call', 'server/discover', 'tools/list'].entries())
      expect(await client.ask(id, method, { ...(id === 0 && { name: 'x' }), _meta: ENVELOPE })).toHaveProperty(
        'result',
      );
    expect(woken).toBe(0);
    await lane.close();
  });

  it('needs no SDK for calls, and can be cancelled like one', async () => {
    let woken = 0;
    const client = rawClient();
    const lane = new StdioLane({
      ...client,
      handler: async () => ({ content: [] }),
      maxMessageBytes: 1_000,
      serverInfo: {},
      introduction: {
        serverInfo: { name: 'us', version: '1' },
        capabilities: {},
        instructions: 'Hello',
        isPersonal: false,
        listTools: () => new Promise(() => {}),
      },
      wake: () => woken++,
    });
    lane.listen();
    lane.toolListChanged();
    await client.ask(0, 'initialize', HELLO);
    client.send({ id: 1, method: 'tools/list' });
    client.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect((await client.ask(2, 'tools/call', { name: 'x' })).result).toEqual({ content: [] });
    expect(lane.inFlight).toBe(0);
    lane.toolListChanged();
    expect(await client.next()).toMatchObject({ id: 0 });
    expect(await client.next()).toMatchObject({ id: 2 });
    expect(await client.next()).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(woken).toBe(0);
    client.send({ id: 3, method: 'prompts/list' });
    client.send({ id: 4, method: 'prompts/list' });
    await expect.poll(() => woken).toBe(1);
    expect(client.input.isPaused()).toBe(true);
    await lane.close();
  });

  it("is replayed to the SDK first and in order, and the SDK's answer to it is dropped", async () => {
    const client = rawClient();
    const told: Message[] = [];
    const lane: StdioLane = new StdioLane({
      ...client,
      handler: async () => ({ content: [] }),
      maxMessageBytes: 1_000,
      serverInfo: {},
      introduction: discoverySurface(engine).introduction,
      wake: () => {
        lane.onmessage = (message: Message) => void told.push(message);
        void lane.start();
      },
    });
    lane.listen();
    await client.ask(0, 'initialize', HELLO);
    client.send({ method: 'notifications/initialized' });
    client.send({ method: 'notifications/initialized' });
    client.send({ id: 1, method: 'prompts/list' });
    await expect
      .poll(() => told.map(({ method }) => method))
      .toEqual(['initialize', 'notifications/initialized', 'prompts/list']);
    expect(told[0]).toMatchObject({ params: HELLO });
    await lane.send({ jsonrpc: '2.0', id: told[0]?.id as string, result: {} });
    await lane.send({ jsonrpc: '2.0', id: 1, result: { prompts: [] } });
    expect((await client.answer(1)).result).toEqual({ prompts: [] });
    expect(client.seen).toHaveLength(2);
    // Only the answer to that one: the client may use the same id.
    client.send({ id: told[0]?.id as string, method: 'prompts/list' });
    await expect.poll(() => told.length).toBe(4);
    await lane.send({ jsonrpc: '2.0', id: told[0]?.id as string, result: { prompts: [] } });
    expect((await client.answer(told[0]?.id as string)).result).toEqual({ prompts: [] });
    await lane.close();
  });

  it('ends without the SDK when the client disconnects', async () => {
    const client = rawClient();
    const served = serveGatewayOnStdio(engine, client);
    await client.ask(0, 'initialize', HELLO);
    client.input.end();
    await served.closed;
    await served.close();
  });
});
