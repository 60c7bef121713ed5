import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeIo, fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { type Era, sdkClient, streamTransport, tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { touchReloadStamp } from '../../engine/watch-config.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { main } from '../main.ts';

let server: TestServer;
let folder: ReturnType<typeof tempFolder>;

beforeAll(async () => {
  server = await startTestServer({ tools: { echo: { call: () => 'hello' } } });
});
afterAll(() => server.close());
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

const at = (name: string) => join(folder.path, name);
const write = (name: string, content: unknown): string => {
  mkdirSync(join(at(name), '..'), { recursive: true });
  writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content));
  return at(name);
};
const start = (argv: string[], env: Record<string, string> = {}): { io: FakeIo; done: Promise<number> } => {
  const home = at('home');
  const io = fakeIo({ cwd: folder.path, env: { HOME: folder.path, ANYGPT_HOME: home, ...env } });
  return { io, done: main(['mcp', 'serve', ...argv], io) };
};
const fine = () => ({ servers: [{ name: 'echo', connection: server.connection }] });

const CALLS: readonly [string, Record<string, unknown>][] = [
  ['search_tools', { query: 'echo' }],
  ['get_tool_details', { server: 'echo', tool: 'echo' }],
  ['execute_tool', { server: 'echo', tool: 'echo', arguments: {} }],
  ['list_tools', { server: 'echo' }],
  ['list_mcp_servers', {}],
];

type Client = ReturnType<typeof sdkClient>;

/** What each of the five says: all of it, or why not. */
async function fiveAnswers(client: Client): Promise<{ isError: boolean; text: string }[]> {
  const answers = [];
  for (const [name, args] of CALLS) {
    const result = await client.callTool({ name, arguments: args });
    const [block] = result.content as { text: string }[];
    answers.push({ isError: result.isError === true, text: block?.text ?? '' });
  }
  return answers;
}

/** A cause, the file it is about, and what an agent must read. */
type Cause = readonly [
  what: string,
  make: () => { argv?: string[]; env?: Record<string, string> },
  texts: readonly RegExp[],
];

const named = (name: string, content: unknown) => () => ({ argv: ['--config', write(name, content)] });

const CAUSES: readonly Cause[] = [
  ['a syntax error', named('config.json', '{"servers": [}'), [/config\.json/, /1:14/]],
  ['unknown keys', named('config.json', { servrs: [], cache: { ttl: 'long' } }), [/servrs/, /cache\.ttl/]],
  ['a file that --config names and that is missing', () => ({ argv: ['--config', at('no-such.json')] }), [/no-such/]],
  ['one that ANYGPT_CONFIG names', () => ({ env: { ANYGPT_CONFIG: at('no-such.json') } }), [/ANYGPT_CONFIG/]],
  ['a folder in place of a file', () => ({ argv: ['--config', folder.path] }), [/is a folder/]],
  [
    'text that is not UTF-8',
    () => {
      writeFileSync(at('config.yaml'), Buffer.from([0xff, 0xfe, 0x41]));
      return { argv: ['--config', at('config.yaml')] };
    },
    [/UTF-8/],
  ],
  ['code that throws', named('config.ts', 'throw new Error("no such luck"); export default {}'), [/no such luck/]],
  ['code that throws what is no error', named('config.mjs', 'throw null;'), [/config\.mjs/]],
  [
    'config() without its import',
    named('config.ts', 'export default config({ servers: [] });'),
    [/import \{ config \} from '@anygpt\/discovery\/config'/],
  ],
  [
    'defineConfig() without its import',
    named('config.mjs', 'export default defineConfig({ servers: [] });'),
    [/import \{ defineConfig \} from '@anygpt\/discovery\/config'/],
  ],
  [
    'a rule that no engine takes',
    named('config.json', { toolRules: [{ pattern: ['/(?<=a)b/'], enabled: false }] }),
    [/toolRules/, /\(\?<=a\)b/],
  ],
  ['extends that leads nowhere', named('config.json', { extends: './base.yaml' }), [/base\.yaml/]],
  [
    'a trust store that cannot be understood',
    () => {
      write('home/trust.json', '{ nope');
      write('.anygpt/mcp-discovery.config.json', { servers: [] });
      mkdirSync(at('.git'));
      return { env: { HOME: at('elsewhere') } };
    },
    [/trust\.json/],
  ],
  [
    'phrases that cannot be read',
    named('config.json', { search: { phrases: './no-phrases.json' } }),
    [/no-phrases\.json/],
  ],
];

describe('a gateway whose configuration cannot be used', () => {
  it.each(CAUSES)('starts anyway and says so in all five tools: %s', async (_what, make, texts) => {
    const { argv = [], env } = make();
    const { io, done } = start(argv, env);
    const client = sdkClient('legacy');
    await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
    expect((await client.listTools()).tools).toHaveLength(5);
    for (const { isError, text } of await fiveAnswers(client)) {
      expect([isError, JSON.parse(text)]).toMatchObject([true, { error: { code: 'CONFIGURATION_ERROR' } }]);
      for (const expected of [...texts, /anygpt mcp config reload/]) expect(text).toMatch(expected);
    }
    // Nobody may read it, but it is there.
    for (const expected of texts) expect(io.err()).toMatch(expected);
    io.stdin.end();
    expect(await done).toBe(2);
  });

  it.each(['legacy', 'modern'] as Era[])(
    'works as soon as the file is mended and a reload was asked for (%s)',
    async (era) => {
      const { io, done } = start(['--config', write('config.yaml', 'servers: [')]);
      const client = sdkClient(era);
      await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
      expect((await fiveAnswers(client)).map(({ isError }) => isError)).toEqual([true, true, true, true, true]);
      write('config.yaml', `servers: [{ name: echo, conection: 1 }]\n`);
      touchReloadStamp(at('home'));
      // What it says is what is wrong now.
      await expect.poll(async () => (await fiveAnswers(client))[0]?.text, { timeout: 10_000 }).toContain('conection');
      write('config.yaml', JSON.stringify(fine()));
      touchReloadStamp(at('home'));
      await expect
        .poll(async () => (await fiveAnswers(client)).map(({ isError }) => isError), { timeout: 10_000 })
        .toEqual([false, false, false, false, false]);
      io.stdin.end();
      expect(await done).toBe(0);
    },
  );

  it('heals by itself with --watch, also when a file that was extended appears', async () => {
    const { io, done } = start(['--watch', '--config', write('config.json', { extends: './base.json' })]);
    const client = sdkClient('legacy');
    await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
    expect((await fiveAnswers(client))[0]?.text).toContain('base.json');
    write('base.json', fine());
    await expect
      .poll(async () => (await fiveAnswers(client)).map(({ isError }) => isError), { timeout: 10_000 })
      .toEqual([false, false, false, false, false]);
    io.stdin.end();
    expect(await done).toBe(0);
  });

  it.each(['legacy', 'modern'] as Era[])('says so over HTTP, too (%s)', async (era) => {
    const { io, done } = start(['--config', write('config.json', '{ nope'), '--http', '0']);
    await expect.poll(io.err).toMatch(/listening on http:\S+/);
    const client = sdkClient(era);
    const url = /http:\/\/127\S+/.exec(io.err())?.[0] ?? '';
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    expect((await client.listTools()).tools).toHaveLength(5);
    for (const { isError, text } of await fiveAnswers(client)) {
      expect(isError).toBe(true);
      expect(text).toContain('config.json');
    }
    write('config.json', fine());
    touchReloadStamp(at('home'));
    await expect.poll(async () => (await fiveAnswers(client))[2]?.text, { timeout: 10_000 }).toBe('hello');
    await client.close();
    io.signal('SIGINT');
    expect(await done).toBe(0);
  });

  it('greets its client at once while the configuration hangs, and says so when its time is over', async () => {
    const { io, done } = start(['--config', write('config.mjs', 'await new Promise(() => {}); export default {};')]);
    const client = sdkClient('legacy');
    const began = performance.now();
    await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
    expect(performance.now() - began).toBeLessThan(8000);
    expect((await fiveAnswers(client))[0]?.text).toContain('did not finish loading');
    io.stdin.end();
    expect(await done).toBe(2);
  }, 60_000);

  it('of one server to be shown as it is has five tools that say why there is none', async () => {
    const { io, done } = start(['--config', write('config.json', '{ nope'), '--expose', 'echo']);
    const client = sdkClient('legacy');
    await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
    for (const { isError, text } of await fiveAnswers(client)) {
      expect(isError).toBe(true);
      expect(text).toMatch(/"echo.*config\.json.*restart/s);
    }
    io.stdin.end();
    expect(await done).toBe(2);
  });

  it.runIf(process.getuid?.() !== 0)('also means a file that this user may not read', async () => {
    chmodSync(write('config.json', fine()), 0);
    const { io, done } = start(['--config', at('config.json')]);
    const client = sdkClient('legacy');
    await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
    expect((await fiveAnswers(client))[4]?.text).toContain('may not be read');
    io.stdin.end();
    expect(await done).toBe(2);
    rmSync(at('config.json'));
  });
});

describe('a source that cannot be used', () => {
  it('is named beside the servers that are there', async () => {
    const sources = [{ type: 'custom', path: write('broken.json', '{ nope') }];
    const { io, done } = start(['--config', write('config.json', { ...fine(), sources })]);
    const client = sdkClient('legacy');
    await client.connect(streamTransport(io.stdin, io.stdout as never) as never);
    const [found, , , , servers] = await fiveAnswers(client);
    for (const answer of [found, servers]) {
      expect(answer).toMatchObject({ isError: false, text: expect.stringContaining('broken.json') });
      expect(answer?.text).toContain('"echo"');
    }
    io.stdin.end();
    expect(await done).toBe(0);
  });
});

describe('every other command', () => {
  it.each(['list', 'search x', 'tools echo', 'config validate', 'stats'])('keeps exit code 2: %s', async (words) => {
    const io = fakeIo({ cwd: folder.path, env: { ANYGPT_HOME: at('home') } });
    const config = write('config.json', '{ nope');
    expect(await main(['mcp', ...words.split(' '), '--config', config], io)).toBe(2);
    expect(io.out() + io.err()).toContain('config.json');
  });
});
