import { afterEach, describe, expect, it } from 'vitest';
import { canaryOf, teamServers } from '../../test/fixtures/team-servers.ts';
import type { Caller } from '../core/types.ts';
import { createMetaToolRunner } from '../meta-tools/meta-tool-runner.ts';
import { EngineCore } from './engine-core.ts';

const open: EngineCore[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

function team(more: object = {}) {
  const world = teamServers();
  const engine = new EngineCore({ ...world.config, ...more }, world.options, 'memory');
  open.push(engine);
  const run = createMetaToolRunner(engine);
  /** Asks one of the five tools; the answer as text. */
  const ask = async (name: string, args: object, caller: Caller = {}): Promise<string> =>
    JSON.stringify(await run(name, args, { caller, signal: new AbortController().signal }));
  return { ...world, engine, ask };
}
const ANN: Caller = { principal: 'alice', profile: 'team' };
const BOB: Caller = { principal: 'bob', profile: 'payers' };

/** Everything an agent may ask for by which it could learn of a server or a tool of this name. */
const probes = (server: string, tool: string): readonly (readonly [string, object])[] => [
  ['search_tools', { query: 'pay', server }],
  ['list_tools', { server, includeDisabled: true }],
  ['get_tool_details', { server, tool }],
  ['get_tool_details', { server: 'github', tool }],
  ['get_tool_details', { server: '', tool: `${server}:${tool}` }],
  ['get_tool_details', { server: `${server}__${tool}`, tool: '' }],
  ['execute_tool', { server, tool, arguments: {} }],
  ['execute_tool', { server: 'github', tool, arguments: {} }],
  ['execute_tool', { server: '', tool, arguments: {} }],
  ...['read_schema', 'read_resource', 'get_prompt'].map((own) => {
    const args = { read_schema: { server, tool }, read_resource: { server, uri: 'note://x' } }[own] ?? {
      server,
      name: tool,
    };
    return ['execute_tool', { server: 'anygpt', tool: own, arguments: args }] as const;
  }),
];

describe('a profile', () => {
  it('has its servers and tools only: what is outside answers as what does not exist', async () => {
    const { ask, engine, journal } = team();
    // All lists are known, so that anything could be found.
    await engine.readLists();
    expect(await ask('list_mcp_servers', {})).toContain('payroll');
    const reached = journal.length;
    const outside = [
      ['payroll', 'pay_salary', 'zqxwvkj', 'zqx_wvkjzq'],
      ['github', 'delete_repo', 'github', 'zqxwvk_jzqx'],
    ] as const;
    for (const [server, tool, noServer, noTool] of outside) {
      const invented = probes(noServer, noTool);
      for (const [at, [name, args]] of probes(server, tool).entries()) {
        const none = await ask(name, invented[at]?.[1] ?? {}, ANN);
        const said = await ask(name, args, ANN);
        const isShown = server === 'github' && !JSON.stringify(args).includes(tool);
        if (!isShown) expect(said).toContain('"isError":true');
        expect(said.replaceAll(tool, noTool).replaceAll(server, noServer)).toBe(none);
      }
    }
    expect(journal.slice(reached).map(({ server }) => server)).not.toContain('payroll');
    for (const [name, args] of [
      ['list_mcp_servers', {}],
      ['list_tools', { server: 'github', includeDisabled: true }],
      ['list_tools', { server: 'payrol' }],
      ['execute_tool', { server: 'github', tool: 'delete_rep', arguments: {} }],
      ...['pay a salary', 'delete a repository', 'payroll', 'qqqq'].map(
        (query) => ['search_tools', { query }] as const,
      ),
    ] as const)
      expect((await ask(name, args, ANN)).replaceAll(/payrol\W/g, '')).not.toMatch(
        /payroll|salary|delete_repo|disabled/,
      );
    const count = (text: string) => /"name\\":\\"github\\"[^}]*"toolCount\\":(\d+)/.exec(text)?.[1];
    expect(count(await ask('list_mcp_servers', {}, ANN))).toBe('2');
    expect(count(await ask('list_mcp_servers', {}))).toBe('3');
  });

  it('can use what it has', async () => {
    const { ask } = team();
    expect(await ask('search_tools', { query: 'create an issue' }, ANN)).toContain('create_issue');
    expect(await ask('execute_tool', { server: 'github', tool: 'create_issue', arguments: {} }, ANN)).toContain(
      'github create_issue',
    );
    expect(await ask('get_tool_details', { server: 'payroll', tool: 'pay_salary' }, BOB)).toContain('pay salary');
  });

  it('names its servers in the description of search_tools, and no others', async () => {
    const { engine } = team();
    expect(await engine.serverNames({ caller: ANN })).toEqual(['github', 'jira-eu', 'vault']);
    expect(await engine.serverNames({ caller: BOB })).toEqual(['payroll', 'vault']);
    expect(await engine.serverNames()).toEqual(['github', 'jira-eu', 'payroll', 'vault']);
  });

  it('asks a server for its list once for everybody, and sees its changes', async () => {
    const { engine, ask, journal, extra } = team();
    for (const caller of [ANN, BOB, {}, ANN]) await ask('search_tools', { query: 'issue', limit: 100 }, caller);
    const lists = () => journal.filter(({ server, method }) => server === 'github' && method === 'tools/list').length;
    expect(lists()).toBe(1);
    extra.set('github', ['merge_branch', 'delete_branch']);
    await engine.readLists({ servers: ['github'], again: true });
    expect(lists()).toBe(2);
    const found = await ask('list_tools', { server: 'github', includeDisabled: true }, ANN);
    expect(found).toContain('merge_branch');
    expect(found).not.toContain('delete_branch');
  });

  it('cannot undo a deny of the configuration, and an unknown one is refused everything', async () => {
    const profiles = { team: { toolRules: [{ pattern: ['*'], enabled: true }] } };
    const { ask } = team({ profiles, toolRules: [{ pattern: ['create_*'], enabled: false }] });
    expect(await ask('list_tools', { server: 'github', includeDisabled: true }, ANN)).not.toContain('create_issue');
    expect(await ask('execute_tool', { server: 'github', tool: 'create_issue', arguments: {} }, ANN)).toContain(
      'TOOL_NOT_FOUND',
    );
    for (const [name, args] of probes('github', 'list_issues'))
      expect(await ask(name, args, BOB)).toContain('CONFIGURATION_ERROR');
  });

  it('changes with a reload, for what it sees and for what it calls', async () => {
    const profiles: Record<string, { servers: string[] }> = { team: { servers: ['github', 'jira-*'] } };
    const { engine, ask } = team({ profiles });
    const call = () => ask('execute_tool', { server: 'jira-eu', tool: 'create_ticket', arguments: {} }, ANN);
    expect(await call()).toContain('jira-eu create_ticket');
    profiles.team = { servers: ['github', 'payroll'] };
    await engine.reload();
    expect(await call()).toContain('SERVER_NOT_FOUND');
    expect(await engine.serverNames({ caller: ANN })).toEqual(['github', 'payroll']);
    expect(await ask('search_tools', { query: 'pay a salary' }, ANN)).toContain('pay_salary');
    delete profiles.team;
    await engine.reload();
    expect(await call()).toContain('CONFIGURATION_ERROR');
    expect(await ask('list_mcp_servers', {}, ANN)).not.toContain('github');
  });

  it('named default is that of users without one, and not of a local client', async () => {
    const { engine } = team({ profiles: { default: { servers: ['github'] } } });
    expect(await engine.serverNames({ caller: { principal: 'carol' } })).toEqual(['github']);
    expect(await engine.serverNames({ caller: {} })).toContain('payroll');
    const { engine: without } = team();
    expect(await without.serverNames({ caller: { principal: 'carol' } })).toContain('payroll');
  });
});

describe('a server with credentials of each user', () => {
  it('gets those of the user who calls, and each user sees its own list', async () => {
    const { ask, journal } = team();
    for (const [caller, other] of [
      [ANN, 'bob'],
      [BOB, 'alice'],
    ] as const) {
      const mine = canaryOf(String(caller.principal));
      for (const [name, args] of [
        ['search_tools', { query: 'open canary', limit: 100 }],
        ['list_tools', { server: 'vault' }],
        ['execute_tool', { server: 'vault', tool: 'whoami', arguments: {} }],
        ['execute_tool', { server: 'vault', tool: `${mine}_open`, arguments: {} }],
      ] as const) {
        const said = await ask(name, args, caller);
        expect(said).toContain(mine);
        expect(said).not.toContain(canaryOf(other));
      }
      const foreign = { server: 'vault', tool: `${canaryOf(other)}_open`, arguments: {} };
      expect(await ask('execute_tool', foreign, caller)).toContain('TOOL_NOT_FOUND');
    }
    expect(journal.filter(({ server }) => server === 'vault').every(({ headers }) => headers.authorization)).toBe(true);
  });

  it('refuses a user without credentials, and nobody else suffers from that', async () => {
    const { ask } = team();
    const carol = { principal: 'carol', profile: 'team' };
    const whoami = { server: 'vault', tool: 'whoami', arguments: {} };
    for (let at = 0; at < 3; at++) expect(await ask('execute_tool', whoami, carol)).toContain('SERVER_AUTH_REQUIRED');
    expect(await ask('execute_tool', whoami, ANN)).toContain(canaryOf('alice'));
    const overview = await ask('list_mcp_servers', {}, ANN);
    expect(overview).not.toContain('credentials');
    expect(await ask('list_mcp_servers', {}, carol)).toContain('no credentials for you');
  });
});
