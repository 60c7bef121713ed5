/** The configuration of HAProxy that comes with this package, in front of two replicas. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StaticTokens } from '../../src/auth/static-tokens.ts';
import type { StdioConnection } from '../../src/core/types.ts';
import { startTestServer, type TestServer } from '../../src/testing/index.ts';
import { root } from '../fixtures/cli.ts';
import { script } from '../fixtures/connections/harness.ts';
import { ask } from '../fixtures/gateway/http-request.ts';
import { type Era, jsonOf, sdkClient, tempFolder } from '../fixtures/gateway/kit.ts';
import { freePort, hasRedis, startRedis, type TestRedis } from '../fixtures/redis.ts';
import { type Replicas, startReplicas } from '../fixtures/replicas.ts';

const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;
const ERAS: readonly Era[] = ['legacy', 'modern'];
const { command, args } = script('eliciting.mjs').connection as StdioConnection;

let folder: ReturnType<typeof tempFolder>;
let server: TestServer;
let redis: TestRedis;
let all: Replicas;
let haproxy: ChildProcess;
let url: URL;
let token: string;
beforeEach(async () => {
  if (!hasRedis || !hasHaproxy) return;
  folder = tempFolder();
  server = await startTestServer({
    tools: {
      echo: { call: (given) => JSON.stringify(given) },
      steps: {
        call: async (_, { progress }) => {
          for (let at = 1; at <= 3; at += 1) {
            await progress(at, 3);
            await new Promise((resolve) => setTimeout(resolve, 400));
          }
          return 'done';
        },
      },
    },
  });
  redis = await startRedis();
  const port = await freePort();
  const servers = [
    { name: 'echo', connection: server.connection },
    {
      name: 'asker',
      connection: { type: 'stdio', command, args },
      tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
    },
  ];
  const behind = ['--allowed-host', `127.0.0.1:${port}`, '--trusted-proxy', '127.0.0.1'];
  all = await startReplicas({ redis: redis.url, config: { servers }, args: behind });
  // Created on one machine, known on both.
  const created = await new StaticTokens(all.replicas[0]?.home ?? '').create({ expiresAt: Date.now() + 3_600_000 });
  token = created.text;
  url = new URL(`http://127.0.0.1:${port}/mcp`);
  const file = join(folder.path, 'haproxy.cfg');
  const config = readFileSync(join(root, 'deploy/haproxy/haproxy.cfg'), 'utf8')
    .replace('/run/haproxy/admin.sock', join(folder.path, 'admin.sock'))
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('10.0.0.1:8080', all.replicas[0]?.url.host ?? '')
    .replace('10.0.0.2:8080', all.replicas[1]?.url.host ?? '');
  writeFileSync(file, config);
  haproxy = spawn('haproxy', ['-f', file], { stdio: 'ignore' });
  const opens = () =>
    new Promise<boolean>((resolve) => {
      const socket = createConnection(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
    });
  await expect.poll(opens, { timeout: 20_000 }).toBe(true);
  // The other replica hears of the token within ten seconds.
  const letsIn = async ({ url: own }: { readonly url: URL }) => {
    const headers = { host: url.host, authorization: `Bearer ${token}`, accept: 'application/json' };
    return (await ask(String(own), { headers: Object.entries(headers) })).status !== 401;
  };
  await expect.poll(async () => (await Promise.all(all.replicas.map(letsIn))).every(Boolean), soon).toBe(true);
});
afterEach(async () => {
  if (!hasRedis || !hasHaproxy) return;
  if (haproxy?.exitCode === null) {
    haproxy.kill('SIGKILL');
    await once(haproxy, 'exit');
  }
  await all[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
  await server.close();
  folder[Symbol.dispose]();
});

const soon = { timeout: 30_000 };
async function connect(era: Era, capabilities: Record<string, unknown> = {}) {
  const client = sdkClient(era, capabilities);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  return { client, [Symbol.asyncDispose]: () => client.close() };
}
type Client = Awaited<ReturnType<typeof connect>>['client'];
const execute = (client: Client, serverName: string, tool: string, given: object, options = {}) =>
  client.callTool({ name: 'execute_tool', arguments: { server: serverName, tool, arguments: given } }, options);

describe.skipIf(!hasRedis || !hasHaproxy)('two replicas behind HAProxy', () => {
  it.each(ERAS)('answer, ask and report progress as one gateway (%s)', async (era) => {
    await using connection = await connect(era, { elicitation: {} });
    const { client } = connection;
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { said: 'yes' } }));
    for (let id = 0; id < 10; id += 1) expect(jsonOf(await execute(client, 'echo', 'echo', { id }))).toEqual({ id });
    for (const marker of ['a', 'b', 'c'])
      expect((await execute(client, 'asker', 'ask', { marker })).structuredContent).toMatchObject({ marker });
    // Events come one by one, not all at the end.
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
    const call = execute(client, 'echo', 'steps', {}, { onprogress });
    await expect.poll(() => heard[0], { timeout: 10_000, interval: 20 }).toBe(1);
    expect(heard).not.toContain(3);
    await call;
    expect(heard).toEqual([1, 2, 3]);
  });

  it.each(ERAS)('lose no call when one of them drains (%s)', async (era) => {
    await using connection = await connect(era);
    const { client } = connection;
    let isOver = false;
    const wrong: unknown[] = [];
    let answered = 0;
    /** Waits until the workers have made some calls from now on. */
    const goOn = () => {
      const until = answered + 40;
      return expect.poll(() => answered, soon).toBeGreaterThan(until);
    };
    const work = async (worker: number) => {
      for (let at = 0; !isOver; at += 1) {
        const id = `${worker} ${at}`;
        try {
          const answer = await execute(client, 'echo', 'echo', { id });
          if (answer.isError) wrong.push(jsonOf(answer));
          answered += 1;
        } catch (error) {
          wrong.push(error);
        }
      }
    };
    const workers = [0, 1, 2, 3].map(work);
    await goOn();
    // As the operator does first. A process that ends may be asked for something until HAProxy has noticed.
    const admin = createConnection(join(folder.path, 'admin.sock'));
    admin.end('set server gateways/one state drain\n');
    await once(admin.resume(), 'close');
    const leaving = all.replicas[0]?.process;
    leaving?.kill('SIGTERM');
    if (leaving?.exitCode === null) await once(leaving, 'exit');
    await goOn();
    isOver = true;
    await Promise.all(workers);
    expect(wrong).toEqual([]);
  });

  it('go on with one of them after the other was killed', async () => {
    await using connection = await connect('legacy');
    const { client } = connection;
    await all.kill(0);
    for (let id = 0; id < 6; id += 1) expect(jsonOf(await execute(client, 'echo', 'echo', { id }))).toEqual({ id });
  });
});
