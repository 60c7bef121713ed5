/** Two users of one gateway over HTTP, on every path to what is theirs, in both eras. All that reaches a client is read. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StaticTokens } from '../../src/auth/static-tokens.ts';
import { EngineCore } from '../../src/engine/engine-core.ts';
import { discoverySurface } from '../../src/gateway/discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp } from '../../src/gateway/serve-http.ts';
import { type Era, sdkClient, tempFolder } from '../fixtures/gateway/kit.ts';

const DAY = 24 * 3_600_000;
const USERS = ['alice', 'bob'] as const;
type User = (typeof USERS)[number];
const canaryOf = (user: User | 'carol') => `canary_${user}_3b1f`;
const otherOf = (user: User): User => (user === 'alice' ? 'bob' : 'alice');

const folder = tempFolder();
const texts = new Map<User, string>();
let engine: EngineCore;
let served: ServedHttp;

beforeAll(async () => {
  const home = join(folder.path, 'home');
  const tokens = new StaticTokens(home);
  const rows: [string, object][] = [];
  for (const user of USERS) {
    const { text, token } = await tokens.create({ expiresAt: Date.now() + DAY, profile: `of-${user}`, name: user });
    texts.set(user, text);
    rows.push([token.id, { USER_NAME: user }]);
  }
  const local = (more: object) => ({
    type: 'stdio',
    command: process.execPath,
    args: [fileURLToPath(new URL('../fixtures/personal-server.mjs', import.meta.url)), folder.path],
    ...more,
  });
  const servers = [
    { name: 'desk', connection: local({ userEnv: Object.fromEntries(rows) }) },
    // What only one of the two profiles has.
    ...USERS.map((user) => ({ name: `${user}-only`, connection: local({ env: { USER_NAME: user } }) })),
  ];
  const profileOf = (user: User) => ({
    servers: ['desk', `${user}-only`],
    expose: ['*'],
    pinned: ['desk:whoami', 'desk:long'],
  });
  const profiles = Object.fromEntries(USERS.map((user) => [`of-${user}`, profileOf(user)]));
  const config = { servers, profiles, limits: { result: 2_000 }, cache: { enabled: false } };
  engine = new EngineCore(config as never, { env: { PATH: process.env.PATH, ANYGPT_HOME: home } });
  served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine) });
});
afterAll(async () => {
  await served?.close();
  await engine?.close();
  folder[Symbol.dispose]();
});

async function connect(era: Era, user: User) {
  const headers = { Authorization: `Bearer ${texts.get(user)}` };
  const transport = new StreamableHTTPClientTransport(new URL(served.url), { requestInit: { headers } });
  const client = sdkClient(era, { elicitation: {}, roots: {} });
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept',
    content: { word: `word of ${canaryOf(user)}` },
  }));
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: `file:///home/${canaryOf(user)}` }] }));
  await client.connect(transport as never);
  const received: string[] = [];
  const inner = transport.onmessage;
  transport.onmessage = (...message) => {
    received.push(JSON.stringify(message[0]));
    inner?.(...message);
  };
  return { client, received, [Symbol.asyncDispose]: () => client.close() };
}
type Client = Awaited<ReturnType<typeof connect>>['client'];

const call = (name: string, args: Record<string, unknown>) => (client: Client) =>
  client.callTool({ name, arguments: args });
const execute = (server: string, tool: string, args: Record<string, unknown> = {}) =>
  call('execute_tool', { server, tool, arguments: args });

/** Every way to what is `whose`. Each answer has the canary, unless it is somebody else's. */
const paths = (whose: string, only: string): Record<string, (client: Client) => Promise<unknown>> => ({
  'details of a tool': call('get_tool_details', { server: 'desk', tool: `open_${whose}` }),
  'a call of a tool': execute('desk', `open_${whose}`),
  'the name of a tool alone': call('execute_tool', { server: '', tool: `open_${whose}`, arguments: {} }),
  'the schema of a tool': execute('anygpt', 'read_schema', { server: 'desk', tool: `open_${whose}` }),
  'the tools of a server': call('list_tools', { server: only }),
  'a search in a server': call('search_tools', { query: 'open canary', server: only }),
  'a call of a server': execute(only, 'whoami'),
  'a resource of a server': execute('anygpt', 'read_resource', { server: only, uri: `note://${whose}` }),
  'a prompt of a server': execute('anygpt', 'get_prompt', { server: only, name: `plan_${whose}` }),
  'a prompt': execute('anygpt', 'get_prompt', { server: 'desk', name: `plan_${whose}` }),
  'an exposed tool': call(`desk__open_${whose}`, {}),
  'an exposed tool of a server': call(`${only}__whoami`, {}),
  'an exposed resource of a server': (client) => client.readResource({ uri: `anygpt://${only}/note://${whose}` }),
  'an exposed prompt': (client) => client.getPrompt({ name: `desk__plan_${whose}` }),
  'an exposed prompt of a server': (client) => client.getPrompt({ name: `${only}__plan_${whose}` }),
  'a completion of a prompt': (client) =>
    client.complete({
      ref: { type: 'ref/prompt', name: `desk__plan_${whose}` },
      argument: { name: 'day', value: '' },
    }),
  'a completion of a resource of a server': (client) =>
    client.complete({
      ref: { type: 'ref/resource', uri: `anygpt://${only}/note://${whose}/{day}` },
      argument: { name: 'day', value: '' },
    }),
});

/** What names nobody; each answer has the canary of its own user. */
const OWN: Record<string, (client: Client) => Promise<unknown>> = {
  search: call('search_tools', { query: 'open canary', limit: 100 }),
  list: call('list_tools', { server: 'desk' }),
  call: execute('desk', 'whoami'),
  schema: execute('anygpt', 'read_schema', { server: 'desk', tool: 'touch' }),
  roots: execute('desk', 'folders'),
  question: execute('desk', 'ask'),
  changes: execute('desk', 'touch'),
  'cut result': execute('desk', 'long'),
  'exposed call': call('desk__whoami', {}),
  pinned: call('desk__long', {}),
  'exposed question': call('desk__ask', {}),
  tools: (client) => client.listTools(),
  resources: (client) => client.listResources(),
  templates: (client) => client.listResourceTemplates(),
  prompts: (client) => client.listPrompts(),
};

const said = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    (value) => JSON.stringify(value),
    (error: Error) => `refused: ${error.message}`,
  );

/** On a loaded machine, lists are not there in the time that a search or a list has for them. */
const soon = (ask: () => unknown, what: string) => expect.poll(ask, { timeout: 60_000, message: what });

/** Waits until everything of a user is known to the gateway, and its clients have heard of that. */
async function settled({ client, received }: Awaited<ReturnType<typeof connect>>, user: User): Promise<void> {
  for (const part of ['desk__open', `${user}-only__open`])
    await soon(() => said(client.listTools()), part).toContain(part);
  for (const server of ['desk', `${user}-only`])
    await soon(() => said(client.listResources()), server).toContain(`anygpt://${server}/`);
  let before = -1;
  while (received.length !== before) {
    before = received.length;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
}

describe.each<Era>(['legacy', 'modern'])('two %s clients of different users', (era) => {
  it('read, call, are asked and hear only what is their own, cold or warm', async () => {
    await using alice = await connect(era, 'alice');
    await using bob = await connect(era, 'bob');
    const round = async ({ client }: typeof alice, user: User) => {
      const own = { ...OWN, ...paths(canaryOf(user), `${user}-only`) };
      await Promise.all(
        Object.entries(own).map(async ([what, ask]) =>
          soon(() => said(ask(client)), `${what} of ${user}`).toContain(canaryOf(user)),
        ),
      );
    };
    for (const isCold of [true, false, true, false]) {
      if (isCold) await engine.forget();
      await Promise.all([round(alice, 'alice'), round(bob, 'bob'), round(alice, 'alice')]);
    }
    for (const [user, { received }] of [
      ['alice', alice],
      ['bob', bob],
    ] as const) {
      expect(received.length).toBeGreaterThan(100);
      expect(received.join('\n')).not.toMatch(new RegExp(`canary_${otherOf(user)}|${otherOf(user)}-only`));
    }
  }, 180_000);

  it('learn of what is the other’s as much as of what does not exist', async () => {
    await using alice = await connect(era, 'alice');
    await using bob = await connect(era, 'bob');
    const invented = paths(canaryOf('carol'), 'carol-only');
    for (const [user, one] of [
      ['alice', alice],
      ['bob', bob],
    ] as const) {
      const { client } = one;
      await settled(one, user);
      const other = otherOf(user);
      for (const [what, ask] of Object.entries(paths(canaryOf(other), `${other}-only`))) {
        const answer = await said(ask(client));
        const none = await said((invented[what] as typeof ask)(client));
        expect(answer.replaceAll(other, 'carol'), what).toBe(none);
      }
    }
  }, 180_000);

  it('hear of changes of their own servers and resources, and of no others', async () => {
    await using alice = await connect(era, 'alice');
    await using bob = await connect(era, 'bob');
    const uris = (user: User) =>
      ['desk', `${user}-only`].map((server) => `anygpt://${server}/note://${canaryOf(user)}`);
    for (const [user, one] of [
      ['alice', alice],
      ['bob', bob],
    ] as const) {
      const { client } = one;
      // Lists that are read for the first time are changes, too.
      await settled(one, user);
      if (era === 'legacy') for (const uri of uris(user)) await client.subscribeResource({ uri });
      const resourceSubscriptions = USERS.flatMap(uris);
      if (era === 'modern') await client.listen({ toolsListChanged: true, resourceSubscriptions });
    }
    const heard = ({ received }: typeof alice) => received.join('\n');
    for (const client of [alice, bob]) client.received.length = 0;
    const touch = async (user: User, { client }: typeof alice) => {
      for (const server of ['desk', `${user}-only`]) await client.callTool({ name: `${server}__touch`, arguments: {} });
    };
    const hears = (user: User, client: typeof alice) =>
      expect
        .poll(() => heard(client), { timeout: 60_000 })
        .toSatisfy(
          (text: string) =>
            text.includes('notifications/tools/list_changed') && uris(user).every((uri) => text.includes(uri)),
        );
    await touch('alice', alice);
    await hears('alice', alice);
    expect(heard(bob)).not.toMatch(/list_changed|updated/);
    await touch('bob', bob);
    await hears('bob', bob);
    expect(heard(bob)).not.toMatch(/canary_alice/);
  }, 180_000);
});
