/** Two users behind one engine, with canaries in all that is theirs: tools, resources, tokens, folders, results. */
import { fileURLToPath } from 'node:url';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { withRequestProviders } from '../agent/registry/request-scope.ts';
import type { Caller } from '../core/types.ts';
import { createMetaToolRunner } from '../meta-tools/meta-tool-runner.ts';
import { EngineCore } from './engine-core.ts';

type User = 'alice' | 'bob';
const USERS: readonly User[] = ['alice', 'bob'];
const otherOf = (user: User): User => (user === 'alice' ? 'bob' : 'alice');
/** In every tool, resource and answer that is this user's. */
const canaryOf = (user: User) => `canary_${user}_3b1f`;
const tokenOf = (user: User) => `token-of-${user}-9f8e7d6c5b4a3210`;
const folderOf = (user: User) => `file:///home/files-of-${user}-77aa`;
const rowOf = (user: User) => `https://idp.example ${user}-at-idp`;
const principalOf = (user: User) => `https://idp.example\0${user}-at-idp`;
const isOf = (user: User) => new RegExp(`canary_${user}|token-of-${user}|files-of-${user}|${user}-at-idp`);

const userIn = (headers: Headers): User | undefined =>
  USERS.find((user) => headers.get('authorization') === `Bearer ${tokenOf(user)}`);
const toolsOf = (user: User | undefined) =>
  [...(user ? [`open_${canaryOf(user)}`] : []), 'whoami'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const answerOf = (user: User | undefined) => ({ content: [{ type: 'text', text: user ? canaryOf(user) : 'shared' }] });

/** A server of the new era that tells users by their tokens. */
const modern = createMcpHandler(
  ({ requestInfo }) => {
    const user = requestInfo && userIn(requestInfo.headers);
    const server = new Server({ name: 'safe', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: toolsOf(user) }) as never);
    server.setRequestHandler('tools/call', () => answerOf(user) as never);
    return server;
  },
  { legacy: 'reject' },
);

/** The same of the old era. */
async function legacy(request: Request): Promise<Response> {
  const user = userIn(request.headers);
  if (request.method !== 'POST') return new Response(null, { status: 405 });
  const { id, method, params } = (await request.json()) as {
    id?: number;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return new Response(null, { status: 202 });
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'vault', version: '1' },
    },
    'tools/list': { tools: toolsOf(user) },
    'tools/call': answerOf(user),
  };
  const error = { code: -32601, message: 'Method not found' };
  return Response.json({ jsonrpc: '2.0', id, ...(results[method] ? { result: results[method] } : { error }) });
}

const open: EngineCore[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

function world(more: object = {}) {
  /** What reached servers, by the user whose token came with it. */
  const journal: { user: User | undefined; text: string }[] = [];
  const fetch = (async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const text = `${request.url} ${JSON.stringify([...request.headers])} ${String(init?.body ?? '')}`;
    journal.push({ user: userIn(request.headers), text });
    return request.url.endsWith('/safe') ? modern.fetch(request) : legacy(request);
  }) as typeof globalThis.fetch;
  const perUser = (name: string) => ({
    name,
    connection: {
      type: 'http' as const,
      url: `http://127.0.0.1:9/${name}`,
      userHeaders: Object.fromEntries(USERS.map((user) => [rowOf(user), { Authorization: `Bearer ${tokenOf(user)}` }])),
    },
  });
  const config = {
    servers: [
      { name: 'shared', connection: { type: 'http' as const, url: 'http://127.0.0.1:9/shared' } },
      perUser('vault'),
      perUser('safe'),
      {
        name: 'desk',
        connection: {
          type: 'stdio' as const,
          command: process.execPath,
          args: [fileURLToPath(new URL('../../test/fixtures/personal-server.mjs', import.meta.url))],
          userEnv: Object.fromEntries(USERS.map((user) => [rowOf(user), { USER_CANARY: canaryOf(user) }])),
        },
      },
    ],
    ...more,
  };
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const engine = new EngineCore(config, { env, fetch, background: false }, 'memory');
  open.push(engine);
  const run = createMetaToolRunner(engine);
  const ask = async (name: string, args: object, caller: Caller): Promise<string> =>
    JSON.stringify(await run(name, args, { caller, signal: new AbortController().signal }));
  return { engine, journal, ask };
}

/** A user comes in the old era and the new, with and without a session, and may be asked or not. */
function callerOf(user: User, way: number): Caller {
  const canBeAsked = way % 2 === 0;
  return {
    principal: principalOf(user),
    ...(way < 2 ? { session: `session ${way} of ${user}` } : { socket: `socket ${way} of ${user}` }),
    ...(way >= 2 && { acceptsInputRequired: true }),
    ...(canBeAsked && {
      capabilities: { roots: {} },
      ask: async () => ({ roots: [{ uri: folderOf(user), name: `files of ${user}` }] }),
    }),
  };
}

/** What a user asks for; the answer has the canary of its own, if `isOwn`. */
function request(user: User, at: number): { name: string; args: object; isOwn: boolean } {
  const execute = (server: string, tool: string, args: object = {}) => ({
    name: 'execute_tool',
    args: { server, tool, arguments: args },
  });
  const server = ['vault', 'safe'][at % 2] as string;
  const [own, foreign] = [canaryOf(user), canaryOf(otherOf(user))];
  if (at % 100 === 7) return { name: 'search_tools', args: { query: 'open canary', limit: 100 }, isOwn: true };
  if (at % 100 === 8) return { name: 'list_tools', args: { server: 'desk' }, isOwn: true };
  if (at % 100 === 9) return { name: 'list_mcp_servers', args: {}, isOwn: false };
  if (at % 100 === 10) return { name: 'get_tool_details', args: { server, tool: `open_${own}` }, isOwn: true };
  if (at % 100 === 11) return { ...execute('desk', 'folders'), isOwn: true };
  if (at % 100 === 12) return { ...execute('desk', 'whoami'), isOwn: true };
  if (at % 100 === 13)
    return { ...execute('anygpt', 'read_resource', { server: 'desk', uri: `note://${own}` }), isOwn: true };
  if (at % 10 === 4) return { ...execute(server, `open_${own}`), isOwn: true };
  // The other user's tool does not exist. The name is what this user wrote.
  if (at % 100 === 15) return { ...execute(server, `open_${foreign.slice(0, 8)}`), isOwn: false };
  if (at % 100 === 16) return { ...execute('shared', 'whoami'), isOwn: false };
  return { ...execute(server, 'whoami'), isOwn: true };
}

describe('two users', () => {
  it('6. see nothing of each other in 10,000 interleaved calls, cold or warm, in both eras', async () => {
    const { engine, journal, ask } = world();
    const together = 20;
    let crossed = 0;
    let strange = 0;
    for (let first = 0; first < 10_000; first += together) {
      // Everything is read and opened anew while calls go on.
      if (first % 2_500 === 1_000) await engine.forget();
      if (first % 2_500 === 2_000) void engine.reload();
      const round = Array.from({ length: together }, async (_, at) => {
        const user = USERS[at % 2] as User;
        const { name, args, isOwn } = request(user, (first + at) >> 1);
        const said = await ask(name, args, callerOf(user, ((first + at) >> 1) % 4));
        if (isOf(otherOf(user)).test(said)) crossed++;
        // While the configuration is replaced, a call may have to be made again.
        if (isOwn && !said.includes(canaryOf(user)) && !said.includes('Call again')) strange++;
      });
      await Promise.all(round);
    }
    expect({ crossed, strange }).toEqual({ crossed: 0, strange: 0 });
    for (const { user, text } of journal) {
      expect(text).not.toMatch(/idp\.example|-at-idp/);
      for (const other of USERS) if (other !== user) expect(text).not.toMatch(isOf(other));
    }
    // One list for each user, each time it was forgotten, however many calls there were.
    const lists = journal.filter(({ text }) => text.includes('/vault') && text.includes('tools/list'));
    expect(lists.length).toBeLessThan(40);
  }, 120_000);

  it('get no page of each other’s results', async () => {
    const { ask } = world({ limits: { result: 2_000 } });
    const long = { server: 'desk', tool: 'long', arguments: {} };
    const first = await ask('execute_tool', long, callerOf('alice', 1));
    const id = /\\"id\\":\\"([\w-]+)\\"/.exec(first)?.[1] ?? /"id":"([\w-]+)"/.exec(first)?.[1];
    expect(id).toBeDefined();
    const page = { server: 'anygpt', tool: 'read_result', arguments: { id, page: 2 } };
    expect(await ask('execute_tool', page, callerOf('bob', 1))).toContain('No result is kept under this id');
    expect(await ask('execute_tool', page, callerOf('alice', 3))).toContain(canaryOf('alice'));
  });

  it('have sources of one request that no other request sees, with a profile too', async () => {
    const { ask } = world({ profiles: { team: { servers: ['vault'] } } });
    const provider = {
      name: 'mine',
      listToolMetadata: () => [{ name: 'only_here', description: 'Only here', inputSchema: { type: 'object' } }],
      getTool: () => undefined,
      callTool: () => ({ content: [{ type: 'text', text: 'mine alone' }] }),
    };
    const alice = { ...callerOf('alice', 1), profile: 'team' };
    const call = (caller: Caller) => ask('execute_tool', { server: 'mine', tool: 'only_here', arguments: {} }, caller);
    const [own, other] = await Promise.all([
      withRequestProviders([provider as never], () => call(alice)),
      call({ ...callerOf('bob', 1), profile: 'team' }),
    ]);
    expect(own).toContain('mine alone');
    expect(other).toContain('SERVER_NOT_FOUND');
  });

  it('are refused and paused apart: the breaker and the pauses of one are not the other’s', async () => {
    const { ask, engine } = world();
    const carol = { principal: 'carol' };
    const whoami = { server: 'vault', tool: 'whoami', arguments: {} };
    for (let at = 0; at < 8; at++) expect(await ask('execute_tool', whoami, carol)).toContain('SERVER_AUTH_REQUIRED');
    expect(await ask('execute_tool', whoami, callerOf('bob', 1))).toContain(canaryOf('bob'));
    expect(engine.connections.isConnected('vault')).toBe(false);
  });
});
