import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, type Ran, root, runBinary } from '../../../test/fixtures/cli.ts';
import { evil } from '../../../test/fixtures/evil.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { sdkClient, streamTransport, tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { main } from '../main.ts';

let github: TestServer;
let folder: ReturnType<typeof tempFolder>;
let config: Record<string, unknown>;
const tool = (words: number) => ({ description: 'word '.repeat(words), call: () => 'ok' });

beforeAll(async () => {
  github = await startTestServer({ tools: { create_issue: tool(300), delete_repo: tool(500) } });
});
afterAll(() => github.close());
beforeEach(() => {
  folder = tempFolder();
  config = {
    servers: [{ name: 'github', connection: github.connection }],
    toolRules: [{ pattern: ['delete_*'], enabled: false }],
  };
});
afterEach(() => folder[Symbol.dispose]());

function environment(): Record<string, string> {
  const path = join(folder.path, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  return { ANYGPT_HOME: join(folder.path, 'home'), ANYGPT_CONFIG: path, HOME: folder.path };
}
function record(...calls: [server: string, tool: string, outcome: string, durationMs: number, time?: string][]): void {
  mkdirSync(join(folder.path, 'home', 'audit'), { recursive: true });
  const lines = calls.map(([server, name, outcome, durationMs, time = new Date().toISOString()]) =>
    JSON.stringify({ time, server, tool: name, outcome, durationMs }),
  );
  writeFileSync(join(folder.path, 'home', 'audit', 'audit.jsonl'), `${lines.join('\n')}\n{"half`);
}
async function run(argv: string[], env: Record<string, string> = {}, columns?: number): Promise<Ran> {
  const io = fakeIo({ cwd: folder.path, env: { ...environment(), ...env } });
  if (columns !== undefined) Object.assign(io.stdout, { isTTY: true, columns });
  const code = await main(['mcp', ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

describe('stats', () => {
  it('sets all definitions, those rules would hide included, against the five meta-tools', async () => {
    const { code, out } = await run(['stats']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^All definitions: about [\d,]+ tokens for 1 tool and 1 disabled of 1 server\. The five meta-tools cost about \d+: [\d.]+ % saved\.\n\n/,
    );
    expect(out).toMatch(
      /\ngithub {10}█+ +[\d,]+ {2}1 tool and 1 disabled\n\(this gateway\) {2}█+.* {2}5 meta-tools\n\nNo calls recorded\.\n$/,
    );
  });

  it('counts tools that may be used, with the disabled beside them, and shows how often the cache had the answer', async () => {
    const io = fakeIo({ cwd: folder.path, env: environment() });
    const serving = main(['mcp', 'serve'], io);
    const client = sdkClient('legacy');
    await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
    for (let time = 0; time < 10; time++)
      await client.callTool({ name: 'search_tools', arguments: { query: 'create issue' } });
    io.stdin.end();
    await serving;
    const document = await documentOf('stats', (await run(['stats', '--json'])).out);
    expect(document.tokens).toMatchObject({ tools: 1, disabled: 1, servers: [{ tools: 1, disabled: 1 }] });
    expect(document.cache).toEqual({ hits: 9, misses: 1, hitRate: 0.9 });
    expect((await run(['stats'])).out).toContain(
      '\n10 lookups of gateways: 90.0 % answered without asking a server.\n',
    );
    const far = await documentOf('stats', (await run(['stats', '--json', '--since', '2999-01-01'])).out);
    expect(far.cache).toEqual({ hits: 0, misses: 0, hitRate: 0 });
  });

  it('shows the dearest first, twenty of them, and all with --all', async () => {
    const servers = Array.from({ length: 23 }, (_, at) => ({
      name: `s${at}`,
      connection: { type: 'stdio', command: 'x' },
      tools: [{ name: 't', description: 'word '.repeat(at) }],
    }));
    config = { servers };
    const { out } = await run(['stats']);
    expect(out.indexOf('\ns22 ')).toBeLessThan(out.indexOf('\ns3 '));
    expect(out).toMatch(/\n\+3 more, about \d+ tokens \(--all shows them\)\n\(this gateway\)/);
    const { out: all } = await run(['stats', '--all']);
    expect(all).toContain('\ns0 ');
    expect(all).not.toContain('more');
    const { tokens } = await documentOf('stats', (await run(['stats', '--json'])).out);
    expect(tokens.servers).toHaveLength(23);
    expect(tokens).toMatchObject({ tools: 23, unknown: [] });
  });

  it('says so when there are too few tools to save anything', async () => {
    config = { servers: [{ name: 'a', connection: { type: 'stdio', command: 'x' }, tools: [{ name: 't' }] }] };
    expect((await run(['stats'])).out).toContain('with so few tools, nothing is saved');
    config = { servers: [] };
    expect(await run(['stats'])).toMatchObject({ code: 0, out: expect.stringContaining('0 tools of 0 servers') });
  });

  it('adds calls, errors and times from the audit log, and counts damaged lines', async () => {
    record(
      ['github', 'create_issue', 'success', 100],
      ['github', 'create_issue', 'tool_error', 12_000],
      ['github', 'delete_repo', 'refused', 0],
      ['old', 'gone', 'cancelled', 5, '2020-01-01T00:00:00.000Z'],
    );
    const { out, err } = await run(['stats']);
    expect(out).toContain('\n\n4 calls since 2020-01-01: 1 error, 1 refused, 1 cancelled, median ');
    expect(out).toMatch(
      /\n {16,}calls {2}errors {2}refused +median +p95 +connect\ngithub +3 +1 +1 +\d+ ms +12\.\d s +-\n {2}create_issue +2 +1 +0 /,
    );
    expect(out).toMatch(/\n {2}delete_repo +1 +0 +1 +- +- +-\n/);
    expect(err).toMatch(/1 lines? of .*audit\.jsonl could not be parsed/);
    expect((await run(['stats', '--since', '7d'])).out).toMatch(/\n3 calls since /);
    expect(await run(['stats', '--since', 'long ago'])).toMatchObject({ code: 1, out: '' });
  });

  it('counts no slip at the command line as a call', async () => {
    for (const slip of [
      ['githb', 'create_issue'],
      ['github', 'creat_issue', 'x=1'],
      ['github', 'create_issue', 'stray'],
    ])
      expect((await run(['execute', ...slip])).code).not.toBe(0);
    const { out, err } = await run(['stats']);
    expect(out).toContain('No calls recorded');
    expect(out).not.toContain('githb');
    expect(err).toContain('3 requests named no known tool or could not be read, and are not counted as calls.');
    expect((await documentOf('stats', (await run(['stats', '--json'])).out)).calls.mistaken).toBe(3);
  });

  it('tells the start of a server apart from the calls', async () => {
    record(['github', 'create_issue', 'success', 5_000], ['github', 'create_issue', 'success', 20]);
    const file = join(folder.path, 'home', 'audit', 'audit.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"durationMs":5000', '"durationMs":5000,"connectMs":4980'));
    const { out } = await run(['stats']);
    expect(out).toMatch(
      /2 calls since .*: 0 errors, median \d\d ms, p95 \d\d ms\. 1 of them had to connect to a server first: median \d{4} ms/,
    );
    expect(out).toMatch(/\n {2}create_issue +2 +0 +\d\d ms +\d\d ms +\d{4} ms\n/);
    const { calls } = await documentOf('stats', (await run(['stats', '--json'])).out);
    expect(calls.total).toMatchObject({ connects: 1, connectMedianMs: expect.any(Number) });
  });

  it('fits a narrow terminal and obeys no escape sequence', async () => {
    config = {
      servers: [
        { name: 'a-rather-long-name-of-a-server', connection: { type: 'stdio', command: 'x' }, tools: [{ name: 't' }] },
      ],
    };
    record(['a\u001b]0;owned\u0007'.repeat(20), 'b\u001b[2J'.repeat(20), 'success', 1]);
    for (const width of [20, 30, 40, 50, 80]) {
      const { out } = await run(['stats'], { NO_COLOR: '1' }, width);
      expect(out).not.toContain('\u001b');
      expect(out.split('\n').filter((line) => line.length > width)).toEqual([]);
      expect(out).toMatch(width >= 50 ? / calls {2}errors +median +p95\b/ : / calls\b/);
    }
  });

  it('offline starts nothing and names what it does not know', async () => {
    using server = evil({});
    config = {
      servers: [{ name: 'quiet', connection: { type: 'stdio', command: server.command, args: server.args } }],
    };
    const { code, out, err } = await run(['stats', '--offline']);
    expect(code).toBe(0);
    expect(out).toContain('0 tools of 0 servers');
    expect(err).toContain('The tools of quiet are not known and not counted.');
    expect(server.journal()).toEqual([]);
  });
});

describe('the real binary', () => {
  it('keeps stdout to the document, and ends with 0, 1 or 2', async () => {
    config = {
      servers: [
        {
          name: 'notes',
          connection: {
            type: 'stdio',
            command: process.execPath,
            args: [join(root, 'examples', 'servers', 'notes.mjs')],
          },
        },
      ],
    };
    record(['notes', 'create_note', 'success', 3]);
    const binary = (argv: string[]) =>
      runBinary(['stats', '--json', ...argv], { cwd: folder.path, env: environment() });
    const fine = await binary([]);
    expect([fine.code, fine.err]).toEqual([0, '']);
    expect(await documentOf('stats', fine.out)).toMatchObject({
      tokens: { servers: [{ name: 'notes', tools: 9 }] },
      calls: {
        total: { calls: 1, errors: 0 },
        damaged: 1,
        servers: [{ server: 'notes', tools: [{ tool: 'create_note' }] }],
      },
    });
    const surplus = await binary(['surplus']);
    expect(surplus.code).toBe(1);
    await documentOf('failure', surplus.out);
    config = { servrs: [] };
    const wrong = await binary([]);
    expect(wrong.code).toBe(2);
    await documentOf('failure', wrong.out);
  });
});
