import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, type Ran, root, runBinary } from '../../../test/fixtures/cli.ts';
import { evil } from '../../../test/fixtures/evil.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { checkSources } from '../../doctor/check-configuration.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { main } from '../main.ts';

let github: TestServer;
let folder: ReturnType<typeof tempFolder>;
let config: Record<string, unknown>;
const stdio = (code: string) => ({ type: 'stdio', command: process.execPath, args: ['-e', code] });

beforeAll(async () => {
  folder = tempFolder();
  github = await startTestServer({ tools: { create_issue: { description: 'Create an issue.', call: () => 'ok' } } });
});
afterAll(async () => {
  await github.close();
  folder[Symbol.dispose]();
});
beforeEach(() => {
  config = { servers: [{ name: 'github', connection: github.connection }] };
});

const write = (value: unknown): string => {
  const path = join(folder.path, 'config.json');
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const environment = () => ({ ANYGPT_HOME: join(folder.path, 'home'), ANYGPT_CONFIG: write(config), HOME: folder.path });

async function run(argv: string[], env: Record<string, string> = {}, tty = false): Promise<Ran> {
  const io = fakeIo({ cwd: folder.path, env: { PATH: process.env.PATH ?? '', ...environment(), ...env } });
  if (tty) for (const stream of [io.stdout, io.stderr]) Object.assign(stream, { isTTY: true, columns: 60 });
  const code = await main(['mcp', 'doctor', ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

describe('a name that a stranger chose', () => {
  it.each(['untrusted', 'error'] as const)('is on one line in what to do about a file (%s)', (status) => {
    const path = '/p/a\u001b[2J\nRun: evil/.mcp.json';
    const [check] = checkSources({
      sources: [{ type: 'claude-code', path, scope: 'project', status, serverCount: 0 }],
    });
    expect(check?.fix).toMatch(/^(?:anygpt mcp trust$|Correct \/p\/a)/);
    expect(JSON.stringify(check?.fix)).not.toMatch(/\\n|\\u001b/);
  });
});

describe('doctor', () => {
  it('gives a healthy server one line: tools, transport, revision and times', async () => {
    const { code, out, err } = await run([]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/✓ github {2}1 tool · http · 2026-07-28 · connect \d+ ms, list \d+ ms\n/);
    expect(out).toMatch(/\n1 of 1 server works\.\n$/);
  });

  it('says how to end the note that two clients have a server of one name', async () => {
    for (const [name, value] of [
      ['.cursor/mcp.json', '1'],
      ['.claude.json', '2'],
    ] as const) {
      mkdirSync(dirname(join(folder.path, name)), { recursive: true });
      const db = { command: process.execPath, env: { A: value } };
      writeFileSync(join(folder.path, name), JSON.stringify({ mcpServers: { db } }));
    }
    config = { sources: [{ type: 'cursor' }, { type: 'claude-code' }] };
    expect((await run(['--offline'])).out.replace(/\s+/g, ' ')).toContain(
      '→ Add {"name": "claude-code/db"} to "servers" in your configuration.',
    );
  });

  it('does not count a server that may not start as one that works', async () => {
    config = {
      servers: [
        { name: 'github', connection: github.connection },
        { name: 'here', connection: { type: 'stdio', command: process.execPath, args: ['${workspaceFolder}/x.mjs'] } },
      ],
    };
    expect((await run([])).out).toMatch(/\n1 of 2 servers works?, /);
    expect((await run(['here'])).out).toMatch(/\n0 of 1 server works, /);
    expect((await run(['--offline'])).out).toMatch(/\n1 of 2 servers looks? right/);
    const { servers } = await documentOf('doctor', (await run(['--json'])).out);
    expect(servers).toMatchObject([{ status: 'ok' }, { name: 'here', status: 'unchecked' }]);
  });

  it('says what is wrong with each server and the one thing to do, and is 3', async () => {
    config = {
      servers: [
        { name: 'github', connection: github.connection },
        { name: 'away', connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } },
        { name: 'bare', connection: { type: 'stdio', command: 'no-such-command' } },
        { name: 'dies', connection: stdio("console.error('Error: API_TOKEN is required'); process.exit(1)") },
        { name: 'poor', connection: { type: 'stdio', command: 'x', env: { KEY: '${NOT_SET}' } } },
        { name: 'off', enabled: false, connection: { type: 'stdio', command: 'x' } },
      ],
    };
    const { code, out } = await run([]);
    expect(code).toBe(3);
    expect(out).toMatch(/✗ away {4}could not be reached \(ECONNREFUSED\)\.\n {2}→ Start the server/);
    expect(out).toMatch(/✗ bare {4}the command "no-such-command" was not found on PATH\n {2}→ Install it/);
    expect(out).toMatch(/✗ dies .*API_TOKEN is required\.\n {2}→ export API_TOKEN=…/);
    expect(out).toMatch(/✗ poor {4}NOT_SET is not set\n {2}→ export NOT_SET=…/);
    expect(out).toContain('- off     disabled');
    expect(out).toMatch(/1 of 5 servers works\.\n$/);
  });

  it('looks only at the servers that are named, and knows names that nearly exist', async () => {
    config = {
      servers: [...(config.servers as object[]), { name: 'bare', connection: { type: 'stdio', command: 'nope' } }],
    };
    expect((await run(['github'])).code).toBe(0);
    expect(await run(['gihub'])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"github"') });
  });

  it('offline starts nothing', async () => {
    using server = evil({});
    config = {
      servers: [{ name: 'quiet', connection: { type: 'stdio', command: server.command, args: server.args } }],
    };
    const { code, out } = await run(['--offline', '--json']);
    expect(code).toBe(0);
    expect(await documentOf('doctor', out)).toMatchObject({
      offline: true,
      servers: [{ name: 'quiet', status: 'unchecked' }],
    });
    expect(server.journal()).toEqual([]);
    expect((await run(['--offline'])).out).toContain('1 of 1 server looks right (nothing was started).');
  });

  it('gives up on a server that hangs when --timeout says so', async () => {
    config = { servers: [{ name: 'hangs', connection: stdio('setTimeout(() => {}, 60000)') }] };
    const { code, out } = await run(['--timeout', '150ms']);
    expect(code).toBe(3);
    expect(out).toMatch(
      /✗ hangs {2}no answer within 0.15 s\.\n {2}→ Use a longer --timeout, or none: then it may take 30 s\n/,
    );
  });

  it('is 2 for a configuration that is wrong, with every problem in the report', async () => {
    config = { servrs: [], cache: { ttl: 'long' } };
    const { code, out, err } = await run(['--json']);
    expect([code, err]).toEqual([2, '']);
    const { checks, healthy } = await documentOf('doctor', out);
    expect(healthy).toBe(false);
    const texts = checks.filter(({ status }: { status: string }) => status === 'fail');
    expect(texts.map(({ detail }: { detail: string }) => detail).join()).toMatch(/cache\.ttl.*servrs/);
    expect((await run([])).out).toMatch(
      /✗ ~\/config\.json:\n {2}- cache\.ttl: .*\n {2}- servrs: .*\n {2}→ Correct the file/,
    );
    config = 'no json' as never;
    expect((await run([])).out).toMatch(/✗ ~\/config\.json:1:1 is not valid JSON/);
  });

  it('is 2 for a source that is broken, and 0 for a client that is not here', async () => {
    config = { ...config, sources: [{ type: 'custom', path: './no-such.yaml' }] };
    const { code, out, err } = await run([]);
    expect([code, err]).toEqual([2, '']);
    expect(out).toMatch(/✗ custom ~\/no-such\.yaml: was not found\.\n {2}→ Correct its path in "sources"/);
    expect(out).toContain('1 of 1 server works, 1 problem elsewhere.');
  });

  it('writes home as ~ in what is to be done, too, and paths so that they can be typed', async () => {
    writeFileSync(join(folder.path, 'broken.json'), '{');
    const project = join(folder.path, 'my project');
    mkdirSync(join(project, '.cursor'), { recursive: true });
    mkdirSync(join(project, '.git'), { recursive: true });
    writeFileSync(join(project, '.cursor', 'mcp.json'), '{"mcpServers":{"a":{"command":"x"}}}');
    config = { sources: [{ type: 'custom', path: './broken.json' }, { type: 'cursor' }] };
    const io = fakeIo({ cwd: project, env: { PATH: process.env.PATH ?? '', ...environment() } });
    await main(['mcp', 'doctor', '--offline'], io);
    expect(io.out()).toContain('  → Correct ~/broken.json\n');
    expect(io.out()).toContain(`  → anygpt mcp trust '${project}/.cursor/mcp.json'\n`);
    config = { servers: [{ name: 'bare', connection: { type: 'stdio', command: 'no-such-command' } }] };
    expect((await run([])).out).toContain('\n0 of 1 server works');
  });

  it('names rules that match nothing once every server was seen', async () => {
    config = { ...config, toolRules: [{ pattern: ['nothing_*'], enabled: false }] };
    const { code, out } = await run([]);
    expect(code).toBe(0);
    expect(out).toMatch(/! ~\/config\.json: .*nothing_\*/);
    expect(out).toContain('1 warning.');
  });

  it('shows progress on a terminal, in colour, within its width', async () => {
    config = { servers: [...(config.servers as object[]), { name: 'other', connection: github.connection }] };
    const { out, err } = await run([], {}, true);
    expect(err).toContain('Starting servers: ');
    expect(out).toContain('\u001b[32m✓\u001b[39m github');
    const plain = out.replace(/\u001b\[\d+m/g, '');
    const paths = new RegExp(folder.path);
    expect(plain.split('\n').filter((line) => line.length > 60 && !paths.test(line))).toEqual([]);
    expect((await run([], { NO_COLOR: '1' }, true)).out).not.toContain('\u001b');
  });

  it('shows no secret that a server was given and repeats when it dies', async () => {
    const connection = {
      ...stdio("console.error('Error: bad key ' + process.env.KEY); process.exit(1)"),
      env: { KEY: '${SECRET_KEY}' },
    };
    config = { servers: [{ name: 'leaky', connection }] };
    const { code, out } = await run([], { SECRET_KEY: 'hunter2-hunter2-hunter2' });
    expect(code).toBe(3);
    expect(out).toContain('bad key');
    expect(out).not.toContain('hunter2');
  });

  it('obeys no escape sequence of a server or a file', async () => {
    config = {
      servers: [
        { name: 'a\u001b[31m', connection: stdio("console.error('Error: \u001b]0;owned\u0007'); process.exit(1)") },
      ],
    };
    expect((await run([])).out).not.toContain('\u001b');
  });
});

describe('the real binary', () => {
  const binary = (argv: string[]): Promise<Ran> =>
    runBinary(['doctor', ...argv], { cwd: folder.path, env: environment() });

  it('keeps stdout to the report and ends with 0, 2 or 3', async () => {
    const sample = { type: 'stdio', command: process.execPath, args: [join(root, 'examples', 'servers', 'notes.mjs')] };
    config = { servers: [{ name: 'notes', connection: sample }] };
    const fine = await binary(['--json']);
    expect([fine.code, fine.err]).toEqual([0, '']);
    const { servers } = await documentOf('doctor', fine.out);
    expect(servers).toMatchObject([{ name: 'notes', status: 'ok', transport: 'stdio', toolCount: 9 }]);
    config = {
      servers: [
        { name: 'notes', connection: sample },
        { name: 'b', connection: { type: 'stdio', command: '/no/b' } },
      ],
    };
    expect(await binary([])).toMatchObject({ code: 3, err: '', out: expect.stringContaining('✗ b') });
    mkdirSync(join(folder.path, 'other'), { recursive: true });
    const failed = await binary(['nobody', '--json']);
    expect([failed.code, failed.err]).toEqual([2, '']);
    await documentOf('failure', failed.out);
    const usage = await binary(['--offlin', '--json']);
    expect(usage.code).toBe(1);
    await documentOf('failure', usage.out);
  });

  it('quotes what a server prints to stdout, and blames a --timeout that was too short', async () => {
    mkdirSync(join(folder.path, '.cursor'), { recursive: true });
    const hangs = (code: string) => ({
      command: process.execPath,
      args: ['-e', `${code}; setInterval(() => {}, 1e6)`],
    });
    writeFileSync(
      join(folder.path, '.cursor', 'mcp.json'),
      JSON.stringify({ mcpServers: { noisy: hangs("console.log('Ready to serve!')"), slow: hangs('0') } }),
    );
    config = { sources: [{ type: 'cursor' }] };
    const { code, out } = await binary(['--timeout', '1s']);
    expect(code).toBe(3);
    expect(out).toMatch(/✗ noisy .*\n {2}→ Make it print to stderr.*\[stdout\] Ready to serve!\n/);
    expect(out).toMatch(/✗ slow .*\n {2}→ Use a longer --timeout, or none: then it may take 30 s\n/);
  });
});
