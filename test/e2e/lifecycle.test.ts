/**
 * How a gateway begins, what it takes, and how it ends: nothing but the protocol on stdout, no process left behind.
 * @module
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Evil, type EvilScenario, evil } from '../fixtures/evil.ts';
import { connect, serveHttp, textOf } from './gateway.ts';
import { envelope, type Frame, RawGateway } from './raw-gateway.ts';
import { BIN, Sandbox, until } from './sandbox.ts';
import { entry, everything } from './servers.ts';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
/** `slow` answers after a while, `hang` never. */
const WITNESS: EvilScenario = {
  era: 'legacy',
  tools: ['echo', 'slow', 'hang'].map(tool),
  on: [
    { method: 'tools/call', tool: 'slow', do: [{ delay: 300 }, { default: true }] },
    { method: 'tools/call', tool: 'hang', do: [] },
  ],
};
const UNDYING: EvilScenario = { ...WITNESS, ignoreEof: true, ignoreSigterm: true };

const arrived = (server: Evil, count = 1) =>
  until('the calls are under way', () => server.received('tools/call').length >= count);

/** Every line of a gateway's stdout is one message of the protocol. */
const expectOnlyProtocol = (gateway: RawGateway) => {
  expect(gateway.lines.length).toBeGreaterThan(0);
  for (const line of gateway.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
};

const errorOf = ({ result }: Frame) => JSON.parse((result as { content: [{ text: string }] }).content[0].text).error;

describe('the end', () => {
  it('comes with the end of input: exit 0, at once, no process left', async () => {
    await using sandbox = new Sandbox();
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [everything()] }));
    await gateway.initialize();
    await gateway.answer(gateway.beginCall('everything', 'echo', { message: 'hi' }));
    expect(gateway.processes().length).toBeGreaterThan(1);
    const start = Date.now();
    expect(await gateway.end()).toEqual({ code: 0, signal: null });
    expect(Date.now() - start).toBeLessThan(3000);
    await sandbox.quiet(2000);
    expectOnlyProtocol(gateway);
  });

  it('comes after the answers to what was asked, even if all of it was asked at the start', async () => {
    await using sandbox = new Sandbox();
    using witness = evil(WITNESS);
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('witness', witness.args)] }));
    void gateway.initialize();
    const ids = [gateway.beginCall('witness', 'echo', { text: 'one' }), gateway.beginCall('witness', 'slow')];
    expect(await gateway.end()).toEqual({ code: 0, signal: null });
    for (const id of ids) expect((await gateway.answer(id)).result).not.toHaveProperty('isError', true);
  });

  it('lets calls finish after SIGTERM, and tells those that do not', async () => {
    await using sandbox = new Sandbox();
    using witness = evil(WITNESS);
    const config = { servers: [entry('witness', witness.args)], limits: { drain: 600 } };
    const gateway = new RawGateway(sandbox, sandbox.write(config));
    await gateway.initialize();
    const slow = gateway.beginCall('witness', 'slow', { text: 'made it' });
    const hang = gateway.beginCall('witness', 'hang');
    await arrived(witness, 2);
    gateway.child.kill('SIGTERM');
    // Its client keeps the pipe open: the gateway goes all the same.
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect((await gateway.answer(slow)).result?.content).toEqual([{ type: 'text', text: 'made it' }]);
    expect(errorOf(await gateway.answer(hang))).toMatchObject({ code: 'SHUTTING_DOWN', outcome: 'unknown' });
    expectOnlyProtocol(gateway);
  });

  it('lets a call over HTTP finish after SIGTERM', async () => {
    await using sandbox = new Sandbox();
    using witness = evil(WITNESS);
    const url = await serveHttp(sandbox, sandbox.write({ servers: [entry('witness', witness.args)] }));
    const agent = await connect('v1 http', sandbox, url);
    const slow = agent.execute('witness', 'slow', { text: 'made it' });
    await arrived(witness);
    const pid = Number.parseInt(sandbox.processes().find((text) => text.includes('--http')) ?? '', 10);
    process.kill(pid, 'SIGTERM');
    expect(textOf(await slow)).toBe('made it');
    await sandbox.quiet();
  });

  it('leaves after SIGTERM although its client reads nothing, and says why', async () => {
    await using sandbox = new Sandbox();
    using witness = evil({ era: 'legacy', on: [{ method: 'tools/call', do: [{ big: 3_000_000 }] }] });
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('witness', witness.args)] }));
    await gateway.initialize();
    gateway.child.stdout.pause();
    for (let call = 0; call < 12; call++) gateway.beginCall('witness', 'echo', { text: 'x' });
    await arrived(witness, 4);
    gateway.child.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 3, signal: null });
    expect(gateway.stderr).toMatch(/ended before the client had read \d+ bytes of its answers/);
    gateway.child.stdout.resume();
    await sandbox.quiet();
  });

  it('does not wait after a second signal, and still takes its children along', async () => {
    await using sandbox = new Sandbox();
    using witness = evil(UNDYING);
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('witness', witness.args)] }));
    await gateway.initialize();
    gateway.beginCall('witness', 'hang');
    await arrived(witness);
    gateway.child.kill('SIGINT');
    await until('the first signal was taken', async () => {
      gateway.child.kill('SIGINT');
      return gateway.child.exitCode !== null || gateway.child.signalCode !== null;
    });
    expect((await gateway.exited).code).toBe(130);
    await sandbox.quiet(2000);
  });

  it('takes everything along within two seconds when it is killed', async () => {
    await using sandbox = new Sandbox();
    using plain = evil({ ...UNDYING, on: [{ method: 'tools/call', do: [{ grandchild: true }, { default: true }] }] });
    using wrapped = evil(UNDYING);
    const shell = {
      name: 'wrapped',
      connection: { type: 'stdio', command: 'sh', args: ['-c', '"$@"; true', 'sh', wrapped.command, ...wrapped.args] },
    };
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('plain', plain.args), shell] }));
    await gateway.initialize();
    await gateway.answer(gateway.beginCall('plain', 'echo', { text: 'x' }));
    await gateway.answer(gateway.beginCall('wrapped', 'echo', { text: 'x' }));
    // The gateway, its reaper, one server with a grandchild, a shell with another.
    expect(gateway.processes().length).toBeGreaterThanOrEqual(6);
    gateway.child.kill('SIGKILL');
    await gateway.exited;
    await sandbox.quiet(2000);
  });

  it('comes when nobody reads its answers any more', async () => {
    await using sandbox = new Sandbox();
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [] }));
    await gateway.initialize();
    gateway.child.stdout.destroy();
    gateway.begin('tools/list');
    expect((await gateway.exited).code).toBe(0);
  });
});

describe('the start', () => {
  it('needs no arguments: `discovery` alone is the server', async () => {
    await using sandbox = new Sandbox();
    const child = spawn(process.execPath, [join(dirname(BIN), 'discovery.js')], {
      env: { ...sandbox.env, ANYGPT_CONFIG: sandbox.write({ servers: [] }) },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    expect(JSON.parse(line.toString()).result.serverInfo.name).toBe('@anygpt/discovery');
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('starts no server before one is needed, and gives it no more than it was promised', async () => {
    await using sandbox = new Sandbox();
    using witness = evil({ ...WITNESS, start: [{ do: [{ dumpEnv: true }] }] });
    const server = entry('witness', witness.args, { tools: WITNESS.tools }, { MINE: 'yes' });
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [server] }));
    await gateway.initialize();
    await gateway.request('tools/list');
    await gateway.request('tools/call', { name: 'search_tools', arguments: { query: 'echo' } });
    await gateway.request('tools/call', { name: 'list_mcp_servers' });
    expect(witness.journal()).toEqual([]);
    await gateway.answer(gateway.beginCall('witness', 'echo', { text: 'now' }));
    const env = witness.journal().find(({ event }) => event === 'env')?.env as Record<string, string>;
    expect(Object.keys(env).sort()).toEqual(['HOME', 'MINE', 'PATH']);
  });
});

describe('too few file descriptors', () => {
  it('cost the server that cannot be started, and nobody else', async () => {
    await using sandbox = new Sandbox();
    using witness = evil(WITNESS);
    const servers = ['first', 'second'].map((name) => entry(name, witness.args, { tools: [tool('echo')] }));
    const gateway = new RawGateway(sandbox, sandbox.write({ servers, retry: { attempts: 0 } }));
    await gateway.initialize();
    const first = () => gateway.answer(gateway.beginCall('first', 'echo', { text: 'hi' }));
    await first();
    const { pid } = gateway.child;
    execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${readdirSync(`/proc/${pid}/fd`).length}`]);
    const refused = errorOf(await gateway.answer(gateway.beginCall('second', 'echo', { text: 'hi' })));
    // If an attempt in the background came first, this call meets its back-off.
    expect(['SERVER_CONNECTION_ERROR', 'SERVER_UNAVAILABLE']).toContain(refused.code);
    expect(refused.message).toContain('EMFILE');
    expect((await first()).result).not.toHaveProperty('isError', true);
    expect(await gateway.end()).toEqual({ code: 0, signal: null });
  });
});

describe('stdout', () => {
  it('stays clean when a configuration prints', async () => {
    await using sandbox = new Sandbox();
    const config = sandbox.write(
      `console.log('loading'); console.info('still'); process.stdout.write('not a message\\n');
       export default { servers: [] as unknown[] };`,
      'config.ts',
    );
    const gateway = new RawGateway(sandbox, config);
    await gateway.initialize();
    expect((await gateway.request('tools/list')).result?.tools).toHaveLength(5);
    expect((await gateway.end()).code).toBe(0);
    expectOnlyProtocol(gateway);
    expect(gateway.stderr).toContain('loading');
  });
});

describe('protocol revisions', () => {
  let sandbox: Sandbox;
  let config: string;
  beforeAll(() => {
    sandbox = new Sandbox();
    config = sandbox.write({ servers: [] });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('%s is served', async (version) => {
    const gateway = new RawGateway(sandbox, config);
    expect((await gateway.initialize(version)).result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: '@anygpt/discovery' },
      capabilities: { tools: {} },
    });
    expect((await gateway.request('tools/list')).result?.tools).toHaveLength(5);
    expect((await gateway.request('tools/call', { name: 'list_mcp_servers' })).result?.content).toHaveLength(1);
    expect((await gateway.end()).code).toBe(0);
  });

  it('2026-07-28 is served, without a handshake', async () => {
    const gateway = new RawGateway(sandbox, config);
    const discovered = await gateway.request('server/discover', { _meta: envelope() });
    expect(discovered.result?.supportedVersions).toContain('2026-07-28');
    const listed = await gateway.request('tools/list', { _meta: envelope() });
    expect(listed.result).toMatchObject({ resultType: 'complete', cacheScope: 'public' });
    expect(listed.result?.tools).toHaveLength(5);
    const called = await gateway.request('tools/call', { name: 'list_mcp_servers', _meta: envelope() });
    expect(called.result).toMatchObject({ resultType: 'complete' });
    expect((await gateway.end()).code).toBe(0);
  });

  it('a revision from the future is refused with the list of ours', async () => {
    const gateway = new RawGateway(sandbox, config);
    const refused = await gateway.request('server/discover', { _meta: envelope({}, '2099-01-01') });
    expect(refused.error?.code).toBe(-32022);
    expect(refused.error?.data?.supported).toContain('2026-07-28');
    expect((await gateway.request('tools/list', { _meta: envelope() })).result?.tools).toHaveLength(5);
    expect((await gateway.end()).code).toBe(0);
  });

  it('an unknown older revision is answered with one of ours', async () => {
    const gateway = new RawGateway(sandbox, config);
    expect((await gateway.initialize('1999-01-01')).result?.protocolVersion).toBe('2025-11-25');
    expect((await gateway.end()).code).toBe(0);
  });
});

describe('input nobody should send', () => {
  let sandbox: Sandbox;
  let witness: Evil;
  let gateway: RawGateway;
  beforeAll(async () => {
    sandbox = new Sandbox();
    witness = evil(WITNESS);
    gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('witness', witness.args)] }));
    await gateway.initialize();
  });
  afterAll(async () => {
    expectOnlyProtocol(gateway);
    await sandbox[Symbol.asyncDispose]();
    witness[Symbol.dispose]();
  });

  /** Sends something, gives back the error without an id that answers it, and proves that the connection lives on. */
  const refused = async (bytes: string | Buffer) => {
    const before = gateway.frames.length;
    gateway.send(bytes);
    const frame = await gateway.wait('a refusal', ({ error }) => error !== undefined, before);
    expect((await gateway.request('ping')).result).toEqual({});
    return frame;
  };

  it.each([
    ['no JSON at all', 'hello there\n', -32700],
    ['half a message', '{"jsonrpc":"2.0","id":1,"method":\n', -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600],
    ['an empty batch', '[]\n', -32600],
    ['a bare string', '"ping"\n', -32600],
    ['null', 'null\n', -32600],
    ['the wrong version', '{"jsonrpc":"1.0","id":901,"method":"ping"}\n', -32600],
    ['no version', '{"id":902,"method":"ping"}\n', -32600],
    ['a method that is no string', '{"jsonrpc":"2.0","id":903,"method":7}\n', -32600],
    ['id null', '{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600],
    ['a fraction as id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600],
    ['an id beyond all numbers', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}\n', -32600],
    ['20,000 open brackets', `${'['.repeat(20_000)}\n`, -32700],
    ['20,000 nested arrays', `${'['.repeat(20_000)}${']'.repeat(20_000)}\n`, -32600],
    ['a message of 20 MB', `{"jsonrpc":"2.0","id":904,"method":"ping","params":{"x":"${'x'.repeat(20e6)}"}}\n`, -32600],
  ])('%s is refused, and the connection lives on', async (_what, bytes, code) => {
    expect((await refused(bytes)).error).toMatchObject({ code });
  });

  it('arguments nested too deeply to be sent on are refused', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const call = JSON.stringify(RawGateway.execute('witness', 'echo', { x: 'DEEP' })).replace('"DEEP"', deep);
    gateway.send(`{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":${call}}\n`);
    const answer = await gateway.answer('deep');
    expect(answer.error?.code ?? errorOf(answer).code).toBeDefined();
    expect((await gateway.request('ping')).result).toEqual({});
  });

  it('a huge id and a string id come back as they were', async () => {
    for (const id of [9007199254740991, -1, 0, '', 'ü'])
      expect((await gateway.answer(gateway.begin('ping', {}, id))).result).toEqual({});
  });

  it('invalid UTF-8 and lone surrogates do not break the line after', async () => {
    const before = gateway.frames.length;
    gateway.send(
      Buffer.concat([
        Buffer.from(
          '{"jsonrpc":"2.0","id":"utf","method":"tools/call","params":{"name":"search_tools","arguments":{"query":"',
        ),
        Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
        Buffer.from('"}}}\n'),
      ]),
    );
    expect((await gateway.answer('utf')).result ?? (await gateway.answer('utf')).error).toBeDefined();
    const lone =
      '{"jsonrpc":"2.0","id":"lone","method":"tools/call","params":{"name":"search_tools","arguments":{"query":"\\ud800"}}}\n';
    gateway.send(lone);
    expect((await gateway.answer('lone')).result).toBeDefined();
    // A notification may come between.
    const answers = gateway.frames.slice(before).filter(({ id }) => id !== undefined);
    expect(answers.map(({ id }) => id)).toEqual(['utf', 'lone']);
  });

  it('unknown methods, unknown tools and answers nobody asked for do no harm', async () => {
    expect((await gateway.request('no/such')).error?.code).toBe(-32601);
    expect(errorOf(await gateway.request('tools/call', { name: '__proto__', arguments: {} })).code).toBe(
      'TOOL_NOT_FOUND',
    );
    gateway.send({ jsonrpc: '2.0', id: 'anygpt-1', result: {} });
    gateway.notify('notifications/cancelled', { requestId: 'nobody' });
    gateway.notify('notifications/no-such');
    expect((await gateway.request('ping')).result).toEqual({});
  });

  it('an id that is still in use is refused, and the first call gets its answer', async () => {
    gateway.begin('tools/call', RawGateway.execute('witness', 'slow', { text: 'first' }), 'twice');
    gateway.begin('tools/call', RawGateway.execute('witness', 'echo', { text: 'second' }), 'twice');
    await until('both are answered', () => gateway.frames.filter(({ id }) => id === 'twice').length === 2);
    const [second, first] = gateway.frames.filter(({ id }) => id === 'twice');
    expect(second?.error?.code).toBe(-32600);
    expect(first?.result?.content).toEqual([{ type: 'text', text: 'first' }]);
    expect(witness.received('tools/call').filter(({ frame }) => frame?.params?.name === 'echo')).toHaveLength(0);
  });
});
