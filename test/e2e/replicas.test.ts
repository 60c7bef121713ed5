import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StdioConnection } from '../../src/core/types.ts';
import { startTestServer, type TestServer } from '../../src/testing/index.ts';
import { script } from '../fixtures/connections/harness.ts';
import { type Era, jsonOf, sdkClient, textOf } from '../fixtures/gateway/kit.ts';
import { hasRedis, startRedis, type TestRedis } from '../fixtures/redis.ts';
import { type Replicas, startReplicas } from '../fixtures/replicas.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const { command, args } = script('eliciting.mjs').connection as StdioConnection;

let server: TestServer;
let redis: TestRedis;
let all: Replicas;
/** Calls that reached the server. */
let calls: string[] = [];
const waiting = new Set<() => void>();

beforeAll(async () => {
  const call = (given: Record<string, unknown>) => {
    calls.push(String(given.id));
    return JSON.stringify(given);
  };
  server = await startTestServer({
    tools: {
      echo: { call },
      slow: {
        call: async (given, { signal }) => {
          call(given);
          await new Promise<void>((resolve) => {
            waiting.add(resolve);
            signal.addEventListener('abort', () => {
              calls.push('cancelled');
              resolve();
            });
          });
          return 'done';
        },
      },
    },
  });
});
afterAll(() => server.close());
beforeEach(async () => {
  if (!hasRedis) return;
  calls = [];
  redis = await startRedis();
  const servers = [
    { name: 'echo', connection: server.connection },
    {
      name: 'asker',
      connection: { type: 'stdio', command, args },
      tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
    },
  ];
  all = await startReplicas({ redis: redis.url, config: { servers } });
});
afterEach(async () => {
  for (const resolve of waiting) resolve();
  waiting.clear();
  if (!hasRedis) return;
  await all[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

async function connect(era: Era, capabilities: Record<string, unknown> = {}) {
  const client = sdkClient(era, capabilities);
  const transport = new StreamableHTTPClientTransport(all.url);
  await client.connect(transport as never);
  return { client, transport, [Symbol.asyncDispose]: () => client.close() };
}

type Client = Awaited<ReturnType<typeof connect>>['client'];
const execute = (client: Client, tool: string, args: Record<string, unknown>, options = {}) =>
  client.callTool(
    { name: 'execute_tool', arguments: { server: tool === 'ask' ? 'asker' : 'echo', tool, arguments: args } },
    options,
  );

describe.skipIf(!hasRedis)('two replicas behind a proxy that takes turns', () => {
  it.each(ERAS)('answer as one gateway (%s)', async (era) => {
    await using connection = await connect(era);
    const { client } = connection;
    expect((await client.listTools()).tools).toHaveLength(5);
    for (let id = 0; id < 10; id += 1) expect(jsonOf(await execute(client, 'echo', { id }))).toEqual({ id });
    expect(calls).toHaveLength(10);
    const found = await client.callTool({ name: 'search_tools', arguments: { query: 'echo' } });
    expect(jsonOf(found).results[0]).toMatchObject({ server: 'echo', tool: 'echo' });
  });

  it.each(ERAS)('bring answers to questions to the replica that waits for them (%s)', async (era) => {
    await using connection = await connect(era, { elicitation: {} });
    const { client } = connection;
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { said: 'yes' } }));
    for (const marker of ['a', 'b', 'c', 'd', 'e']) {
      const { structuredContent } = await execute(client, 'ask', { marker });
      expect(structuredContent).toMatchObject({ marker, answer: { action: 'accept', content: { said: 'yes' } } });
    }
  });

  it.each(ERAS)('cancel a call whose client gives up, whichever replica hears of it (%s)', async (era) => {
    await using connection = await connect(era);
    const leave = new AbortController();
    const call = execute(connection.client, 'slow', { id: 1 }, { signal: leave.signal });
    await expect.poll(() => calls).toEqual(['1']);
    leave.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => calls).toEqual(['1', 'cancelled']);
  });

  it('continue a session whose replica was killed', async () => {
    all.next(0);
    await using connection = await connect('legacy');
    const { client } = connection;
    expect(jsonOf(await execute(client, 'echo', { id: 1 }))).toEqual({ id: 1 });
    await all.kill(0);
    for (const id of [2, 3, 4]) expect(jsonOf(await execute(client, 'echo', { id }))).toEqual({ id });
    expect(calls).toEqual(['1', '2', '3', '4']);
    expect((await client.listTools()).tools).toHaveLength(5);
  });

  it('continue such a session once, for several requests that arrive together', async () => {
    all.next(0);
    await using connection = await connect('legacy');
    const { client } = connection;
    await all.kill(0);
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    const answers = await Promise.all(ids.map((id) => execute(client, 'echo', { id })));
    expect(answers.map((answer) => jsonOf(answer))).toEqual(ids.map((id) => ({ id })));
    expect([...calls].sort()).toEqual(ids.map(String));
  });

  it('say within a second that it is unknown what became of a call whose replica was killed', async () => {
    all.next(0);
    await using connection = await connect('legacy');
    const { client } = connection;
    all.next(1);
    const call = execute(client, 'slow', { id: 1 });
    await expect.poll(() => calls).toEqual(['1']);
    await all.kill(0);
    const result = await call;
    expect(result.isError).toBe(true);
    expect(jsonOf(result).error).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', outcome: 'unknown' });
    expect(calls.filter((id) => id === '1')).toHaveLength(1);
  });

  it('say the same of a parked call, whose client asks another replica', async () => {
    all.next(0);
    await using connection = await connect('modern', { elicitation: {} });
    const { client } = connection;
    client.setRequestHandler('elicitation/create', async () => {
      await all.kill(0);
      return { action: 'accept' };
    });
    all.next(0);
    const result = await execute(client, 'ask', { marker: 'a' });
    expect(jsonOf(result).error).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', outcome: 'unknown' });
  });

  it.each([
    ['while it still has the session', 0],
    ['after another one has continued the session', 1],
    ['after that one asked something as well', 2],
  ])('bring an answer to the draining replica that asked, %s', async (_, also) => {
    all.next(0);
    await using connection = await connect('legacy', { elicitation: {} });
    const { client } = connection;
    const questions = new Map<string, () => void>();
    client.setRequestHandler('elicitation/create', async ({ params: { message } }) => {
      await new Promise<void>((resolve) => questions.set(message, resolve));
      return { action: 'accept', content: { to: message } };
    });
    const answerOf = async (call: ReturnType<typeof execute>) => (await call).structuredContent;
    const expected = (marker: string) => ({ marker, answer: { action: 'accept', content: { to: marker } } });
    all.next(0);
    const first = execute(client, 'ask', { marker: 'a' });
    await expect.poll(() => questions.has('a')).toBe(true);
    const [draining] = all.replicas;
    draining?.process.kill('SIGTERM');
    await expect.poll(async () => (await fetch(new URL('/readyz', draining?.url))).status).toBe(503);
    all.next(1);
    if (also > 0) expect((await client.listTools()).tools).toHaveLength(5);
    all.next(1);
    const second = also > 1 ? execute(client, 'ask', { marker: 'b' }) : undefined;
    if (second) await expect.poll(() => questions.has('b')).toBe(true);
    for (const marker of ['b', 'a']) {
      all.next(1);
      questions.get(marker)?.();
      if (marker === 'b' && second) expect(await answerOf(second)).toEqual(expected('b'));
    }
    expect(await answerOf(first)).toEqual(expected('a'));
  });

  it('accept an answer to no question, and refuse a batch of more than the SDK accepts', async () => {
    await using connection = await connect('legacy', { elicitation: {} });
    const reply = async (body: unknown) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': connection.transport.sessionId ?? '',
      };
      return (await fetch(all.url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    };
    const answer = (replica: string, at = 1) => ({ jsonrpc: '2.0', id: `q.${replica}.${at}.1`, result: {} });
    // To each of the two replicas.
    for (let times = 0; times < 2; times += 1) expect(await reply(answer('no-replica'))).toBe(202);
    const many = Array.from({ length: 101 }, (_, at) => answer('replica-not-here', at));
    for (let times = 0; times < 2; times += 1) expect(await reply(many)).toBe(400);
  });

  it('do not run a call on a frozen replica and on another one', async () => {
    all.next(0);
    await using connection = await connect('legacy');
    const { client } = connection;
    expect(jsonOf(await execute(client, 'echo', { id: 1 }))).toEqual({ id: 1 });
    all.replicas[0]?.process.kill('SIGSTOP');
    all.next(1);
    const unknown = await execute(client, 'echo', { id: 2 });
    expect(jsonOf(unknown).error).toMatchObject({ outcome: 'unknown' });
    all.next(1);
    expect(jsonOf(await execute(client, 'echo', { id: 3 }))).toEqual({ id: 3 });
    all.replicas[0]?.process.kill('SIGCONT');
    // The session is where it was continued, whichever replica is asked.
    for (const id of [4, 5, 6]) expect(jsonOf(await execute(client, 'echo', { id }))).toEqual({ id });
    expect(calls).toEqual(['1', '3', '4', '5', '6']);
  });

  it('finish the calls of a session that another replica has taken', async () => {
    all.next(0);
    await using connection = await connect('legacy');
    const { client } = connection;
    all.next(0);
    const call = execute(client, 'slow', { id: 1 });
    await expect.poll(() => calls).toEqual(['1']);
    all.replicas[0]?.process.kill('SIGSTOP');
    all.next(1);
    expect((await client.listTools()).tools).toHaveLength(5);
    all.replicas[0]?.process.kill('SIGCONT');
    for (const id of [2, 3]) expect(jsonOf(await execute(client, 'echo', { id }))).toEqual({ id });
    for (const resolve of waiting) resolve();
    expect(textOf(await call)).toBe('done');
  });

  it('work alone while Redis is dead, and together again once it is back', async () => {
    await using connection = await connect('legacy');
    const { client } = connection;
    await redis.kill();
    for (const id of [1, 2, 3, 4]) expect(jsonOf(await execute(client, 'echo', { id }))).toEqual({ id });
    await redis.start();
    await expect.poll(() => redis.connections()).toBe(4);
    await using asked = await connect('legacy', { elicitation: {} });
    asked.client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }));
    for (const marker of ['a', 'b', 'c'])
      expect((await execute(asked.client, 'ask', { marker })).structuredContent).toMatchObject({
        answer: { action: 'decline' },
      });
  });

  it('give a session to nobody else, and keep none that its client has ended', async () => {
    await using connection = await connect('legacy');
    const { transport } = connection;
    const id = transport.sessionId ?? '';
    const post = (session: string) =>
      fetch(all.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': session,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
    expect((await post(id)).status).toBe(200);
    for (const changed of [
      `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`,
      `B${id.slice(1)}`,
      'x',
      'A'.repeat(400),
    ])
      expect((await post(changed)).status).toBe(404);
    await transport.terminateSession();
    for (let tries = 0; tries < 4; tries += 1) expect((await post(id)).status).toBe(404);
    expect(textOf(await execute((await connect('legacy')).client, 'echo', { id: 7 }))).toBe('{"id":7}');
  });
});
