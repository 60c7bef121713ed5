/** Changes of servers that replicas show under their own names reach every client, whichever replica heard of them. */
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../src/testing/index.ts';
import { type Era, sdkClient } from '../fixtures/gateway/kit.ts';
import { hasRedis, startRedis, type TestRedis } from '../fixtures/redis.ts';
import { type Replicas, startReplicas } from '../fixtures/replicas.ts';

const TOOL = { call: () => 'done' };
let server: TestServer;
let redis: TestRedis;
let all: Replicas;
beforeEach(async () => {
  server = await startTestServer({ tools: { before: TOOL } });
  if (hasRedis) redis = await startRedis();
});
afterEach(async () => {
  if (hasRedis) {
    await all[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  }
  await server.close();
});

const soon = { timeout: 15_000 };
async function connect(era: Era) {
  const client = sdkClient(era);
  let told = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => void told++);
  let streams = 0;
  const counting: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (init?.method === 'GET' && answer.ok) streams += 1;
    return answer;
  };
  await client.connect(new StreamableHTTPClientTransport(all.url, { fetch: counting }) as never);
  // The stream of an old client opens after its handshake.
  if (era === 'legacy') await expect.poll(() => streams, soon).toBe(1);
  if (era === 'modern') await client.listen({ toolsListChanged: true });
  const names = async () => (await client.listTools()).tools.map(({ name }) => name.replace(/^.*__/, ''));
  return { client, names, told: () => told };
}

describe.skipIf(!hasRedis)('replicas that expose a local server', () => {
  it('tell every client of a change that the process of one of them announces', async () => {
    const fixture = fileURLToPath(new URL('../fixtures/conformance-server.mjs', import.meta.url));
    const connection = { type: 'stdio', command: process.execPath, args: [fixture, '--legacy-only'] };
    const servers = [{ name: 'local', connection }];
    all = await startReplicas({ redis: redis.url, config: { servers }, args: ['--expose', 'local'] });
    all.next(0);
    const hearing = await connect('modern');
    all.next(1);
    const calling = await connect('modern');
    all.next(1);
    await calling.client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
    for (const { told } of [hearing, calling]) await expect.poll(told, soon).toBeGreaterThan(0);
    await Promise.all([hearing, calling].map(({ client }) => client.close()));
  });
});

describe.skipIf(!hasRedis).each([
  ['one server', ['--expose', 'echo']],
  ['several servers', ['--expose', 'echo', '--expose', 'other']],
] as const)('replicas that expose %s', (_, args) => {
  it.each<Era>(['legacy', 'modern'])(
    'tell every %s client of a change, and all of them list what is new',
    async (era) => {
      const servers = ['echo', 'other'].map((name) => ({ name, connection: server.connection }));
      all = await startReplicas({ redis: redis.url, config: { servers }, args });
      const clients = [];
      // Two at each replica.
      for (let at = 0; at < 4; at += 1) {
        all.next(at % 2);
        clients.push(await connect(era));
      }
      for (const { names } of clients) expect(await names()).toContain('before');
      const before = clients.map(({ told }) => told());
      server.setTools({ after: TOOL });
      for (const [at, { told }] of clients.entries())
        await expect.poll(told, soon).toBeGreaterThan(before[at] as number);
      for (const { names } of clients) {
        const listed = async () => [...new Set(await names())].filter((name) => /^(?:after|before)$/.test(name));
        // Each of several servers is announced, and its list read again, by itself.
        if (args.length > 2) await expect.poll(listed, soon).toEqual(['after']);
        for (let times = 0; times < 3; times += 1) expect(await listed()).toEqual(['after']);
      }
      await Promise.all(clients.map(({ client }) => client.close()));
    },
  );

  it('tell a client with a session also after its replica was killed', async () => {
    const servers = ['echo', 'other'].map((name) => ({ name, connection: server.connection }));
    all = await startReplicas({ redis: redis.url, config: { servers }, args });
    all.next(0);
    const { client, names, told } = await connect('legacy');
    expect(await names()).toContain('before');
    await all.kill(0);
    // The list is known. It is the call that connects the other replica to the server.
    const [tool] = (await client.listTools()).tools;
    await client.callTool({ name: tool?.name ?? '', arguments: {} });
    const before = told();
    let turn = 0;
    // The client opens its stream again after a while.
    const change = () => {
      turn += 1;
      server.setTools({ [`after-${turn}`]: TOOL });
      return told();
    };
    await expect.poll(change, { ...soon, interval: 3_000 }).toBeGreaterThan(before);
    await expect.poll(names, soon).toContain(`after-${turn}`);
    await client.close();
  });
});
