/** Two users of one gateway over HTTP, each with a token and a profile, in both eras. */
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StaticTokens } from '../../src/auth/static-tokens.ts';
import { EngineCore } from '../../src/engine/engine-core.ts';
import { discoverySurface } from '../../src/gateway/discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp } from '../../src/gateway/serve-http.ts';
import { type Era, sdkClient, tempFolder } from '../fixtures/gateway/kit.ts';
import { canaryOf, teamServers, tokenOf } from '../fixtures/team-servers.ts';

const DAY = 24 * 3_600_000;
const USERS = ['alice', 'bob'] as const;
type User = (typeof USERS)[number];
const PROFILES = { alice: 'team', bob: 'payers' } as const;

const folder = tempFolder();
const world = teamServers();
const texts = new Map<User, string>();
let engine: EngineCore;
let served: ServedHttp;

beforeAll(async () => {
  const tokens = new StaticTokens(join(folder.path, 'home'));
  const rows: [string, object][] = [];
  for (const user of USERS) {
    const { text, token } = await tokens.create({ expiresAt: Date.now() + DAY, profile: PROFILES[user], name: user });
    texts.set(user, text);
    rows.push([token.id, { Authorization: `Bearer ${tokenOf(user)}` }]);
  }
  const servers = world.config.servers.map((server) =>
    server.name === 'vault'
      ? { ...server, connection: { ...server.connection, userHeaders: Object.fromEntries(rows) } }
      : server,
  );
  const env = { ANYGPT_HOME: join(folder.path, 'home') };
  const { team, payers } = world.config.profiles;
  const profiles = { team: { ...team, expose: ['*'] }, payers: { ...payers, expose: ['vault'] } };
  const config = { ...world.config, profiles, servers, cache: { enabled: false } };
  engine = new EngineCore(config as never, { env, fetch: world.fetch });
  served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine) });
});
afterAll(async () => {
  await served?.close();
  await engine?.close();
  folder[Symbol.dispose]();
});

async function connect(era: Era, user: User, path = '/mcp') {
  const headers = { Authorization: `Bearer ${texts.get(user)}` };
  const transport = new StreamableHTTPClientTransport(new URL(path, served.url), { requestInit: { headers } });
  const client = sdkClient(era);
  await client.connect(transport as never);
  const ask = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: args }));
  return { client, ask, [Symbol.asyncDispose]: () => client.close() };
}

it.each<Era>(['legacy', 'modern'])('see only their own profile and credentials, as %s clients', async (era) => {
  await using alice = await connect(era, 'alice');
  await using bob = await connect(era, 'bob', '/mcp/p/payers');
  const described = async ({ client }: typeof alice) => (await client.listTools()).tools[0]?.description;
  expect(await described(alice)).toContain('in github, jira-eu, vault');
  expect(await described(bob)).toContain('in payroll, vault');
  const others = { alice: /payroll|pay_salary|canary_bob/, bob: /github|jira|create_issue|canary_alice/ };
  const round = async (at: number) => {
    const [user, client] = at % 2 === 0 ? (['alice', alice] as const) : (['bob', bob] as const);
    const [name, args] = (
      [
        ['execute_tool', { server: 'vault', tool: 'whoami', arguments: {} }],
        ['search_tools', { query: 'canary open', limit: 50 }],
        ['list_mcp_servers', {}],
        ['list_tools', { server: 'vault' }],
      ] as const
    )[(at >> 1) % 4] as readonly [string, Record<string, unknown>];
    const said = await client.ask(name, args);
    expect(said).not.toMatch(others[user]);
    if (name !== 'list_mcp_servers') expect(said).toContain(canaryOf(user));
  };
  for (let first = 0; first < 200; first += 8)
    await Promise.all(Array.from({ length: 8 }, (_, at) => round(first + at)));
});

it.each<Era>(['legacy', 'modern'])(
  'see what their profile exposes with their own credentials, as %s clients',
  async (era) => {
    await using alice = await connect(era, 'alice');
    await using bob = await connect(era, 'bob');
    const names = async ({ client }: typeof alice) => {
      const { tools } = await client.listTools();
      return tools.map(({ name }) => name).filter((name) => name.includes('__'));
    };
    const own = (user: User) => [`vault__${canaryOf(user)}_open`, 'vault__whoami'];
    const shared = ['github__create_issue', 'github__list_issues', 'jira-eu__create_ticket'];
    const round = async (user: User, one: typeof alice) => {
      const other = user === 'alice' ? 'bob' : 'alice';
      expect(await names(one)).toEqual(user === 'alice' ? [...shared, ...own(user)] : own(user));
      expect(await one.ask('vault__whoami', {})).toContain(canaryOf(user));
      expect(await one.ask(`vault__${canaryOf(other)}_open`, {})).toContain('TOOL_NOT_FOUND');
      const { resources } = await one.client.listResources();
      expect(JSON.stringify(resources)).toContain(canaryOf(user));
      expect(JSON.stringify(resources)).not.toContain(canaryOf(other));
      const uri = `anygpt://vault/note://${user}`;
      const { contents } = await one.client.readResource({ uri });
      expect(contents).toEqual([{ uri, text: `secret ${canaryOf(user)}` }]);
    };
    for (let at = 0; at < 5; at++) await Promise.all([round('alice', alice), round('bob', bob), round('alice', alice)]);
  },
);

it('7. send no server the token they came with', () => {
  expect(world.journal.length).toBeGreaterThan(20);
  const sent = JSON.stringify(world.journal);
  for (const text of texts.values()) for (const part of text.split('_').slice(1)) expect(sent).not.toContain(part);
  for (const { server, headers } of world.journal)
    if (server !== 'vault') expect(headers.authorization).toBeUndefined();
});

it('cannot take the profile of somebody else by its address', async () => {
  await expect(connect('legacy', 'alice', '/mcp/p/payers')).rejects.toThrow(/no such profile/);
});
