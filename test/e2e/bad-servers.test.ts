/**
 * Bad servers next to a healthy one: dead, slow, chatty, lying. The healthy one does not notice, and what is wrong with
 * the others is said.
 * @module
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Evil, type EvilScenario, evil } from '../fixtures/evil.ts';
import { type Agent, connect, errorOf, serveArgs, textOf } from './gateway.ts';
import { Sandbox, until } from './sandbox.ts';
import { entry } from './servers.ts';

const tool = (name: string, description = `The ${name} tool.`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});
/** A port of this machine that nobody listens on. */
const closedPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};
const listChanged = { notify: { method: 'notifications/tools/list_changed' } };

const SCENARIOS: Record<string, EvilScenario> = {
  healthy: { tools: [tool('greet', 'Greets somebody politely.')] },
  mute: {
    on: [
      { method: 'initialize', do: [] },
      { method: 'server/discover', do: [] },
    ],
  },
  stuck: { tools: [tool('never')], on: [{ method: 'tools/call', do: [] }] },
  chatty: {
    era: 'legacy',
    tools: [tool('chat')],
    start: [
      { do: [{ raw: '\u001b[31mWelcome!\u001b[0m\r\n{"not":"rpc"}\n[]\n\n' }, { stderr: 'x', fill: 1_000_000 }] },
    ],
    on: [
      {
        method: 'tools/call',
        do: [{ raw: 'DEBUG calling\n' }, { ...listChanged, repeat: 2000, together: true }, { default: true }],
      },
    ],
  },
  endless: { tools: [tool('first'), tool('second')], pageSize: 1, cursors: 'same' },
  sloppy: {
    tools: [
      tool('good'),
      { name: '', inputSchema: { type: 'object' } },
      { description: 'without a name', inputSchema: { type: 'object' } },
      { name: 'x'.repeat(10_000), inputSchema: { type: 'object' } },
      { name: 'no-schema' },
      { name: 'null-schema', inputSchema: null },
      null,
      'a string',
      { ...tool('good'), description: 'a second one of the same name' },
      tool('__proto__', 'A tool with a name like any other.'),
    ],
  },
  foreign: { era: 'legacy', protocolVersion: '1999-01-01' },
  dying: { start: [{ do: [{ stderr: 'cannot open the database\n' }, { exit: 1 }] }] },
};

let sandbox: Sandbox;
let agent: Agent;
const servers: Record<string, Evil> = {};

beforeAll(async () => {
  sandbox = new Sandbox();
  for (const [name, scenario] of Object.entries(SCENARIOS)) servers[name] = evil({ name, ...scenario });
  const timeouts: Record<string, object> = { mute: { connect: 2500 }, stuck: { call: 700 } };
  const config = {
    servers: [
      ...Object.entries(servers).map(([name, { args }]) =>
        entry(name, args, timeouts[name] && { timeouts: timeouts[name] }),
      ),
      { name: 'absent', connection: { type: 'stdio', command: '/no/such/program' } },
      { name: 'gone', connection: { type: 'http', url: `http://127.0.0.1:${await closedPort()}/mcp` } },
    ],
    retry: { attempts: 0 },
  };
  agent = await connect('v1 stdio', sandbox, serveArgs(sandbox.write(config)));
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  for (const server of Object.values(servers)) server[Symbol.dispose]();
});

const serverList = async () => {
  const { servers: listed } = (await agent.ask('list_mcp_servers')) as {
    servers: { name: string; status: string; reason?: string; toolCount: number }[];
  };
  return new Map(listed.map((server) => [server.name, server]));
};
const toolNames = async (server: string) =>
  ((await agent.ask('list_tools', { server })).tools as { name: string }[]).map(({ name }) => name);

describe('the healthy server', () => {
  it('is found by the first search, which names those that are missing', async () => {
    const start = Date.now();
    const { results, notes } = await agent.ask('search_tools', { query: 'greet somebody' });
    expect(Date.now() - start).toBeLessThan(10_000);
    expect((results as unknown[])[0]).toMatchObject({ server: 'healthy', tool: 'greet' });
    expect(JSON.stringify(notes)).toContain('mute not searched: still starting');
  });

  it('is found at once from then on; the notes say who is missing, and why', async () => {
    const dead = ['mute', 'foreign', 'dying', 'absent', 'gone'];
    await until('all of them have failed', async () => {
      const listed = await serverList();
      return dead.every((name) => listed.get(name)?.status === 'error');
    });
    const start = Date.now();
    const { results, notes } = await agent.ask('search_tools', { query: 'greet somebody' });
    expect(Date.now() - start).toBeLessThan(5_000);
    expect((results as unknown[])[0]).toMatchObject({ server: 'healthy', tool: 'greet' });
    // Notes are short: four by name, then how to see the rest.
    const text = (notes as string[]).join('\n');
    expect(dead.filter((name) => text.includes(`${name} not searched`))).toHaveLength(4);
    expect(text).toContain('list_mcp_servers says why');
  });

  it('is not delayed by one that hangs', async () => {
    const hanging = agent.execute('stuck', 'never');
    const connecting = agent.ask('list_tools', { server: 'mute' });
    const start = Date.now();
    for (let round = 0; round < 20; round++)
      expect(textOf(await agent.execute('healthy', 'greet', { text: `round ${round}` }))).toBe(`round ${round}`);
    expect(Date.now() - start).toBeLessThan(5_000);
    expect(await toolNames('healthy')).toEqual(['greet']);
    expect(errorOf(await hanging)).toMatchObject({ code: 'TOOL_EXECUTION_TIMEOUT', outcome: 'unknown' });
    await connecting;
  });
});

describe('what is wrong with the others is said', () => {
  it.each([
    ['absent', /no such file|not found|ENOENT/i],
    ['gone', /refused/i],
    ['dying', /cannot open the database/],
    ['mute', /2500|2\.5|in time|within/],
    ['foreign', /1999-01-01/],
  ])('%s', async (server, reason) => {
    const failed = errorOf(await agent.execute(server, 'echo', { text: 'x' }));
    expect(['SERVER_CONNECTION_ERROR', 'SERVER_UNAVAILABLE']).toContain(failed.code);
    expect(failed).toMatchObject({ server, outcome: 'not_sent' });
    const state = (await serverList()).get(server);
    expect(state).toMatchObject({ status: 'error' });
    expect(state?.reason).toMatch(reason);
  });

  it('the others are connected', async () => {
    for (const server of ['healthy', 'stuck', 'chatty', 'sloppy']) await toolNames(server);
    const listed = await serverList();
    for (const server of ['healthy', 'stuck', 'chatty', 'sloppy'])
      expect(listed.get(server)).toMatchObject({ status: 'connected' });
  });

  it('a list without end is cut at the first repeat and marked', async () => {
    expect(await toolNames('endless')).toContain('first');
    expect((await serverList()).get('endless')?.reason).toMatch(/incomplete|cursor|repeat/i);
    expect(textOf(await agent.execute('endless', 'first', { text: 'callable' }))).toBe('callable');
    expect(servers.endless?.received('tools/list').length).toBeLessThan(10);
  });

  it('good tools of a sloppy list stay, the rest is left out', async () => {
    const names = await toolNames('sloppy');
    expect(names).toEqual(expect.arrayContaining(['good', '__proto__']));
    expect(names.filter((name) => name === 'good')).toHaveLength(1);
    expect(names).not.toContain('null-schema');
    expect(names.every((name) => name.length > 0 && name.length < 1000)).toBe(true);
    expect(textOf(await agent.execute('sloppy', '__proto__', { text: 'as usual' }))).toBe('as usual');
    expect(sandbox.stderr()).toContain('a tool was left out');
  });

  it('noise on stdout, a flood on stderr and a burst of changes do no harm', async () => {
    const before = servers.chatty?.received('tools/list').length ?? 0;
    for (let round = 0; round < 3; round++)
      expect(textOf(await agent.execute('chatty', 'chat', { text: `${round}` }))).toBe(`${round}`);
    expect((servers.chatty?.received('tools/list').length ?? 0) - before).toBeLessThanOrEqual(2);
  });
});
