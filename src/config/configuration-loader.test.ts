import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import { ConfigurationLoader, type LoaderOptions } from './configuration-loader.ts';

let root: string;
let home: string;
let project: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'anygpt-config-'));
  home = join(root, 'home');
  project = join(root, 'work', 'project');
  await mkdir(home, { recursive: true });
  await mkdir(join(project, '.git'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(path: string, content: unknown): Promise<string> {
  const full = join(root, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return full;
}
const loader = (options: LoaderOptions = {}) =>
  new ConfigurationLoader({ home, cwd: project, env: {}, platform: 'linux', ...options });
const load = (options: LoaderOptions = {}, path?: string) => loader({ trustProject: true, ...options }).load(path);
const failure = async (promise: Promise<unknown>): Promise<ConfigurationError> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigurationError);
  return error as ConfigurationError;
};
const stdio = (name: string, command = 'run', more: object = {}) => ({
  name,
  connection: { type: 'stdio', command, ...more },
});
const names = (config: { servers: readonly { name: string }[] }) => config.servers.map(({ name }) => name);

describe('the search for a configuration', () => {
  const everywhere = async () => {
    await write('work/project/.anygpt/mcp-discovery.config.json', { servers: [stdio('own')] });
    await write('work/project/anygpt.config.json', { chat: 1, discovery: { servers: [stdio('shared')] } });
    await write('home/.anygpt/mcp-discovery.config.json', { servers: [stdio('home')] });
    return write('elsewhere/x.json', { servers: [stdio('named')] });
  };

  it('takes the first of: own file, shared file, home, defaults', async () => {
    await everywhere();
    expect(names(await load())).toEqual(['own']);
    await rm(join(project, '.anygpt'), { recursive: true });
    expect(names(await load())).toEqual(['shared']);
    await rm(join(project, 'anygpt.config.json'));
    expect(names(await load())).toEqual(['home']);
    await rm(join(home, '.anygpt'), { recursive: true });
    const config = await load();
    expect(config).toMatchObject({ enabled: true, servers: [], origin: undefined, home: join(home, '.anygpt') });
    expect(config.warnings.join()).toContain('anygpt mcp init');
  });

  it('prefers a named file, the argument before the variable, and needs no trust for it', async () => {
    const file = await everywhere();
    const other = await write('elsewhere/y.yaml', 'discovery:\n  servers: []');
    expect(names(await loader({ env: { ANYGPT_CONFIG: file } }).load())).toEqual(['named']);
    expect(names(await loader({ env: { ANYGPT_CONFIG: other } }).load(file))).toEqual(['named']);
    expect(names(await loader({ cwd: root }).load('elsewhere/x.json'))).toEqual(['named']);
  });

  it('trusts what was written, and not what another program has put there since', async () => {
    const file = await write('work/project/.anygpt/mcp-discovery.config.json', '{"servers":[]}');
    const theirs = '{"servers":[{"name":"theirs","connection":{"type":"stdio","command":"x"}}]}';
    await writeFile(file, theirs);
    await loader().trust(file, '{"servers":[]}');
    expect((await loader().load()).servers).toEqual([]);
    await writeFile(file, '{"servers":[]}');
    expect((await loader().load()).origin).toBe(file);
  });

  it('looks in the parents up to the repository, and not beyond', async () => {
    await write('work/anygpt.config.json', { discovery: { servers: [stdio('beyond')] } });
    await write('work/project/anygpt.config.json', { discovery: { servers: [stdio('top')] } });
    const cwd = join(project, 'packages', 'a');
    await mkdir(cwd, { recursive: true });
    expect(names(await load({ cwd }))).toEqual(['top']);
    await rm(join(project, 'anygpt.config.json'));
    expect(names(await load({ cwd }))).toEqual([]);
  });

  it('goes on when a shared file has no discovery section', async () => {
    await write('work/project/anygpt.config.ts', 'throw new Error("not run")');
    expect((await loader().load()).warnings).toHaveLength(1);
    await write('work/project/anygpt.config.ts', 'export default { about: "discovery" }');
    await write('home/.anygpt/mcp-discovery.config.json', { servers: [stdio('home')] });
    expect(names(await load())).toEqual(['home']);
  });

  it('says that a named shared file lacks the section', async () => {
    const file = await write('x/anygpt.config.json', { chat: 1 });
    expect((await failure(load({}, file))).message).toContain('has no `discovery` section');
  });

  it('says which of two files with different endings is ignored', async () => {
    await write('home/.anygpt/mcp-discovery.config.json', { servers: [] });
    await write('home/.anygpt/mcp-discovery.config.yaml', 'servers: []');
    expect((await load()).warnings.join()).toMatch(/config\.yaml is ignored, because .*config\.json comes first/);
  });

  it('looks in ANYGPT_HOME before ~/.anygpt', async () => {
    await write('home/.anygpt/mcp-discovery.config.json', { servers: [stdio('home')] });
    const state = join(root, 'state');
    expect(names(await load({ env: { ANYGPT_HOME: state } }))).toEqual(['home']);
    await write('state/mcp-discovery.config.json', { servers: [stdio('state')] });
    const config = await load({ env: { ANYGPT_HOME: state } });
    expect(names(config)).toEqual(['state']);
    expect(config.home).toBe(state);
    expect((await load({ env: { ANYGPT_HOME: '~/st' } })).home).toBe(join(home, 'st'));
    const relative = await load({ env: { ANYGPT_HOME: 'st' } });
    expect([relative.home, relative.warnings.join()]).toEqual([
      join(home, '.anygpt'),
      expect.stringContaining('ANYGPT_HOME is not an absolute path'),
    ]);
  });

  it('treats the home folder as home when started there', async () => {
    await write('home/anygpt.config.json', { discovery: { servers: [stdio('home')] } });
    expect(names(await loader({ cwd: home }).load())).toEqual(['home']);
  });
});

describe('rules that cannot be used', () => {
  const rules = [
    { pattern: ['ok_*', '/(/', '!/a(?=b)/'], enabled: false },
    { pattern: 'no list', server: '{a,b}'.repeat(7) },
  ];

  it('are said with all other problems, each with its file and path', async () => {
    await write('work/base.json', { toolRules: [{ pattern: ['/[/'] }] });
    const file = await write('work/x.json', { discovery: { extends: './base.json', toolRules: rules, servrs: [] } });
    const { problems } = await failure(load({}, file));
    expect(problems).toEqual([
      expect.stringMatching(/x\.json.*discovery\.toolRules\[1\]\.pattern: expected/),
      expect.stringMatching(/x\.json.*discovery\.servrs: unknown key/),
      expect.stringMatching(/x\.json.*discovery\.toolRules\[0\]\.pattern\[1\]: "\/\(\/" /),
      expect.stringMatching(/x\.json.*discovery\.toolRules\[0\]\.pattern\[2\]: "!\/a\(\?=b\)\/" /),
      expect.stringMatching(/x\.json.*discovery\.toolRules\[1\]\.server: "\{a,b/),
      expect.stringMatching(/base\.json.*toolRules\[0\]\.pattern\[0\]: "\/\[\/" /),
    ]);
  });

  it('do not crash the loader when they are not rules at all', async () => {
    const { problems } = await failure(
      load({}, await write('y.json', { toolRules: [null, 5, { pattern: [7, '*'] }, { pattern: {} }] })),
    );
    expect(problems.every((problem) => problem.includes('toolRules['))).toBe(true);
    expect((await failure(load({}, await write('z.json', { toolRules: 'x' })))).problems).toHaveLength(1);
  });
});

describe('trust', () => {
  it('does not run an untrusted project file, says so, and continues with the home file', async () => {
    const marker = join(root, 'ran');
    await write(
      'work/project/.anygpt/mcp-discovery.config.mjs',
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(marker)}, ''); export default {}`,
    );
    await write('home/.anygpt/mcp-discovery.config.json', { servers: [stdio('home')] });
    const config = await loader().load();
    expect(names(config)).toEqual(['home']);
    expect(config.warnings.join()).toContain('anygpt mcp trust');
    await expect(readFile(marker)).rejects.toThrow();
  });

  it('uses it once trusted, until it changes', async () => {
    const path = 'work/project/.anygpt/mcp-discovery.config.json';
    const file = await write(path, { servers: [stdio('a')] });
    expect(await loader().trust(file)).toMatchObject({ path: file, trusted: true });
    expect(names(await loader().load())).toEqual(['a']);
    await write(path, { servers: [stdio('b')] });
    expect(names(await loader().load())).toEqual([]);
  });

  it('ends when a source or an extended file changes', async () => {
    const file = await write('work/project/anygpt.config.json', {
      discovery: { extends: './base.json', sources: [{ type: 'custom', path: './s.json' }] },
    });
    await write('work/project/base.json', { servers: [stdio('base')] });
    await write('work/project/s.json', { mcpServers: { s: { command: 'x' } } });
    await loader().trust(file);
    expect(names(await loader().load())).toEqual(['base', 's']);
    await write('work/project/s.json', { mcpServers: { s: { command: 'evil' } } });
    expect(names(await loader().load())).toEqual([]);
  });

  it('asks about files of the project that the hash cannot cover', async () => {
    const file = await write(
      'work/project/anygpt.config.ts',
      `const dot = '.'; export default { discovery: { sources: [{ type: 'custom', path: dot + '/s.json' }] } }`,
    );
    const source = await write('work/project/s.json', { mcpServers: { s: { command: 'x' } } });
    await loader().trust(file);
    const config = await loader().load();
    expect(config.sources).toMatchObject([{ status: 'untrusted', serverCount: 0 }]);
    await loader().trust(source);
    expect(names(await loader().load())).toEqual(['s']);
    await write(
      'work/project/anygpt.config.ts',
      `const d = '.'; export default { discovery: { extends: d + '/s.json' } }`,
    );
    await loader().trust(file);
    await loader().trustStore.revoke(source);
    const refused = await loader().load();
    expect([names(refused), refused.warnings.join()]).toEqual([[], expect.stringContaining('which is not trusted')]);
  });

  it('accepts the word of a person, of the caller and of the environment', async () => {
    const file = await write('work/project/.anygpt/mcp-discovery.config.json', { servers: [stdio('a')] });
    const asked: string[] = [];
    const isTrusted = async (path: string) => asked.push(path) > 0;
    expect(names(await loader({ isTrusted }).load())).toEqual(['a']);
    expect(asked).toEqual([file]);
    expect(names(await loader({ isTrusted: () => false }).load())).toEqual([]);
    expect(names(await loader({ env: { ANYGPT_TRUST_PROJECT: '1' } }).load())).toEqual(['a']);
    expect(names(await loader({ env: { ANYGPT_TRUST_PROJECT: '0' } }).load())).toEqual([]);
  });

  it('skips an unreadable project file but not an unreadable home file', async () => {
    await mkdir(join(project, 'anygpt.config.json'));
    expect((await loader().load()).warnings.join()).toMatch(/is a folder.*It is not used/);
    await failure(load());
    await mkdir(join(home, '.anygpt', 'mcp-discovery.config.json'), { recursive: true });
    await failure(loader().load());
  });

  it('refuses to go on with a broken trust store', async () => {
    await write('work/project/anygpt.config.json', { discovery: {} });
    await write('home/.anygpt/trust.json', '{{');
    expect((await failure(loader().load())).message).toContain('trust.json cannot be read');
  });
});

describe('formats', () => {
  it.each(['ts', 'mts', 'js', 'mjs'])('loads .%s without anything installed beside it', async (ending) => {
    const typed = ending.endsWith('ts') ? ': string' : '';
    await write('home/helper.ts', 'export const command: string = "from-helper"');
    const file = await write(
      `home/c.${ending}`,
      `import { config, defineConfig } from '@anygpt/discovery/config';
       import { command } from './helper.ts';
       const name${typed} = await Promise.resolve('a');
       export default config(defineConfig({ discovery: { servers: [{ name, connection: { type: 'stdio', command } }] } }));`,
    );
    const loaded = await load({}, file);
    expect(loaded.servers).toMatchObject([{ name: 'a', connection: { type: 'stdio', command: 'from-helper' } }]);
    expect(loaded.files).toEqual([file, join(home, 'helper.ts')]);
  });

  it('sees changes of an imported file when loaded again', async () => {
    await write('home/helper.ts', 'export const name = "one"');
    const file = await write(
      'home/c.ts',
      `import { name } from './helper'; export default { servers: [{ name, connection: { type: 'stdio', command: 'x' } }] }`,
    );
    const own = loader();
    expect(names(await own.load(file))).toEqual(['one']);
    await write('home/helper.ts', 'export const name = "two"');
    expect(names(await own.load(file))).toEqual(['two']);
  });

  it('loads code although the state folder cannot be written', async () => {
    const blocker = await write('file', '');
    const file = await write('home/c.ts', 'export default { servers: [] } as const');
    expect((await load({ env: { ANYGPT_HOME: join(blocker, 'x') } }, file)).origin).toBe(file);
  });

  it('loads CommonJS, JSON with comments, and YAML', async () => {
    const content = { a: 'module.exports = { servers: [] }', b: '{ // c\n "servers": [], }', c: 'servers: []' };
    for (const [path, text] of [
      ['x/a.js', content.a],
      ['x/b.json', content.b],
      ['x/c.yml', content.c],
    ] as const) {
      expect((await load({}, await write(path, text))).servers).toEqual([]);
    }
  });

  it.each([
    ['function.ts', 'export default () => ({})', 'exports a function'],
    ['promise.ts', 'export default Promise.resolve({})', 'exports a promise'],
    ['nothing.ts', 'const a = 1', 'exports nothing'],
    ['bare.ts', 'export default config({})', "import { config } from '@anygpt/discovery/config'"],
    ['throws.ts', 'throw new Error("boom")', 'could not be run: boom'],
    ['syntax.ts', 'export default {\n a: 1,, }', 'syntax.ts:2:'],
    ['import.ts', 'import "./nope"; export default {}', "Cannot find module './nope'"],
    ['list.json', '[]', 'expected an object, got array'],
    ['null.yaml', '~', 'expected an object, got null'],
    ['text.yaml', 'hello', 'expected an object, got string'],
    ['section.json', '{"discovery": 5}', 'discovery: expected an object, got number'],
    ['empty.json', ' \n', 'is empty'],
    ['broken.json', '{\n  "servers": [,]\n}', 'broken.json:2:15 is not valid JSON: expected a value, but found ","'],
    ['twice.json', '{"log": {}, "log": {}}', 'twice.json:1:13'],
    ['broken.yaml', 'servers:\n  - a: 1\n   b: 2', 'broken.yaml:3'],
    ['twice.yaml', 'log: {}\nlog: {}', 'twice.yaml:2:1'],
    ['tag.yaml', 'log: !!js/function "x"', 'tag.yaml:1:6'],
    ['alias.yaml', 'log: *nope', 'alias.yaml:1'],
    ['circle.yaml', 'log: &a\n  x: *a', 'at most 200 levels'],
    [
      'bomb.yaml',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(9)}]\nc: &c [${'*b,'.repeat(9)}]\nd: [${'*c,'.repeat(9)}]\n`,
      'Excessive alias',
    ],
    ['deep.yaml', '['.repeat(50_000), 'deep.yaml:1'],
  ])('says what is wrong with %s', async (name, text, words) => {
    const error = await failure(load({}, await write(`x/${name}`, text)));
    expect(error.message).toContain(words);
    expect(error.message).toContain(name);
    expect(error.code).toBe('CONFIGURATION_ERROR');
  });

  it('says what is wrong with files that are not text', async () => {
    await mkdir(join(root, 'folder'));
    expect((await failure(load({}, join(root, 'folder')))).message).toContain('is a folder');
    expect((await failure(load({}, join(root, 'none.json')))).message).toMatch(
      /--config names .*none\.json, which was not found/,
    );
    expect((await failure(load({ env: { ANYGPT_CONFIG: '/none.json' } }))).message).toContain('ANYGPT_CONFIG names');
    expect((await failure(load({}, '/dev/null'))).message).toContain('is not a regular file');
    await writeFile(join(root, 'utf16.json'), Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
    expect((await failure(load({}, join(root, 'utf16.json')))).message).toContain('Save it as UTF-8');
    await writeFile(join(root, 'big.json'), Buffer.alloc(5 * 1024 * 1024 + 1, 0x20));
    expect((await failure(load({}, join(root, 'big.json')))).message).toContain('larger than 5 MiB');
    expect((await failure(load({}, join(root, '${NOPE}')))).message).toContain('NOPE is not set');
  });

  it('gives up on code that never finishes', async () => {
    const file = await write('x/slow.mjs', 'await new Promise(() => {}); export default {}');
    expect((await failure(load({ timeout: 50 }, file))).message).toContain('did not finish loading within 50 ms');
  });

  it('warns of our keys beside the wrapper', async () => {
    const file = await write('x/a.json', { discovery: {}, toolRules: [], other: 1 });
    expect((await load({}, file)).warnings).toEqual([
      `${file}: \`toolRules\` is beside \`discovery\` and is ignored; move it into \`discovery\`.`,
    ]);
  });
});

describe('resolving', () => {
  it('fills in every default', async () => {
    const { limits, cache, audit, log, retry, validation, rulePrecedence } = await load();
    expect({ cache, log, retry, validation, rulePrecedence }).toEqual({
      cache: { enabled: true, ttl: 3600, dir: join(home, '.anygpt', 'cache') },
      log: { level: 'info', format: 'text' },
      retry: { attempts: 3, initial: 1000, max: 30_000, factor: 2, jitter: 0.1 },
      validation: { output: 'warn', observe: false },
      rulePrecedence: 'first-match',
    });
    expect(audit).toEqual({
      enabled: true,
      values: false,
      file: join(home, '.anygpt', 'audit', 'audit.jsonl'),
      maxBytes: 10_485_760,
      files: 5,
      days: 90,
      failClosed: false,
    });
    expect(limits).toMatchObject({ result: 5_242_880, message: 16_777_216, callIdle: 60_000, localServers: 32 });
    expect(limits).toMatchObject({ breaker: { failures: 5, rate: 0.5, minimum: 10 } });
  });

  it('normalises a complete server', async () => {
    const tools = [
      { name: 't', description: 'd', inputSchema: { type: 'object' }, keywords: ['k'], examples: [{ parameters: {} }] },
    ];
    const file = await write('x/a.json', {
      discovery: {
        servers: [
          {
            name: 'a',
            description: 'd',
            enabled: true,
            tools,
            timeouts: { connect: 1, call: 2 },
            rateLimit: { requestsPerSecond: 10 },
            concurrency: 3,
            trusted: true,
            idempotent: ['get_*'],
            connection: {
              type: 'stdio',
              command: './run',
              args: ['${A}'],
              env: { T: '${TOKEN}' },
              inheritEnv: ['X'],
              cwd: '${SUB}/y',
            },
          },
          { name: 'b', connection: { type: 'http', url: 'https://x.test/mcp', headers: { K: '${K}' } } },
          { name: 'c', enabled: false, connection: { type: 'sse', url: '${URL}', auth: 'env' } },
          { name: 'd', connection: { type: 'stdio', command: '~/bin/d', cwd: '${NOPE}' } },
        ],
      },
    });
    const { servers } = await load({ env: { SUB: 'sub', TOKEN: 'secret' } }, file);
    expect(servers[0]).toEqual({
      name: 'a',
      description: 'd',
      enabled: true,
      tools,
      timeouts: { connect: 1, call: 2 },
      rateLimit: { requestsPerSecond: 10, burst: 20 },
      concurrency: 3,
      trusted: true,
      idempotent: ['get_*'],
      connection: {
        type: 'stdio',
        command: join(root, 'x', 'run'),
        args: ['${A}'],
        env: { T: '${TOKEN}' },
        inheritEnv: ['X'],
        cwd: join(root, 'x', 'sub', 'y'),
      },
      origin: { file, path: 'discovery.servers[0]' },
    });
    expect(servers[1]?.connection).toEqual({
      type: 'http',
      url: 'https://x.test/mcp',
      headers: { K: '${K}' },
      auth: undefined,
    });
    expect(servers[2]).toMatchObject({ enabled: false, connection: { type: 'sse', url: '${URL}', auth: 'env' } });
    expect(servers[3]?.connection).toMatchObject({ command: join(home, 'bin', 'd'), cwd: '${NOPE}' });
  });

  it('starts relative paths at the folder that holds .anygpt/ or anygpt.config.*', async () => {
    const section = { cache: { dir: './c' }, log: { file: '~/l' }, audit: { file: '${D}/a' } };
    await write('home/.anygpt/mcp-discovery.config.json', section);
    const config = await load({ env: { D: 'deep' } });
    expect(config.cache.dir).toBe(join(home, 'c'));
    expect(config.log.file).toBe(join(home, 'l'));
    expect(config.audit.file).toBe(join(home, 'deep', 'a'));
    const named = await write('x/.anygpt/n.json', section);
    expect((await load({ env: { D: 'deep' } }, named)).cache.dir).toBe(join(root, 'x', '.anygpt', 'c'));
    expect((await failure(load({}, named))).message).toMatch(/D is not set; audit.file in .*n.json needs it/);
  });

  it('lets the environment override the cache and switch servers off', async () => {
    const file = await write('x/a.json', { cache: { dir: 'c', ttl: 5 }, servers: [stdio('my-server.1'), stdio('b')] });
    const env = {
      ANYGPT_CACHE_DIR: '~/cc',
      ANYGPT_CACHE_TTL: '60',
      MY_SERVER_1_MCP_ENABLED: 'false',
      B_MCP_ENABLED: 'true',
      C_MCP_ENABLED: 'true',
    };
    const config = await load({ env }, file);
    expect(config.cache).toMatchObject({ dir: join(home, 'cc'), ttl: 60 });
    expect(config.servers.map(({ name, enabled }) => [name, enabled])).toEqual([
      ['my-server.1', false],
      ['b', true],
    ]);
    expect((await failure(load({ env: { ANYGPT_CACHE_TTL: 'soon' } }, file))).message).toContain('ANYGPT_CACHE_TTL');
  });

  it('has no servers and reads no sources when switched off', async () => {
    const file = await write('x/a.json', { enabled: false, servers: [stdio('a')], sources: [{ type: 'windsurf' }] });
    expect(await load({}, file)).toMatchObject({ enabled: false, servers: [], sources: [], warnings: [] });
  });

  it('lets written values replace defaults, and reports those that exclude each other', async () => {
    const file = await write('x/a.json', { limits: { callCeiling: 1000, drain: 50_000 }, retry: { initial: 60_000 } });
    const { limits, retry } = await load({}, file);
    expect(limits).toMatchObject({ callIdle: 1000, callCeiling: 1000, drain: 50_000, shutdown: 50_000 });
    expect(retry).toMatchObject({ initial: 60_000, max: 60_000 });
    const bad = await write('x/b.json', { discovery: { retry: { initial: 9, max: 3 } } });
    expect((await failure(load({}, bad))).problems).toEqual([
      `${bad}: discovery.retry.initial: 9 is more than \`retry.max\`, which is 3`,
    ]);
  });

  it('warns of a call time-out beyond the ceiling', async () => {
    const file = await write('x/a.json', { servers: [{ ...stdio('a'), timeouts: { call: 700_000 } }] });
    expect((await load({}, file)).warnings.join()).toContain('limits.callCeiling ends every call after 600000 ms');
  });

  it('resolves a configuration that is not in a file', async () => {
    const config = await loader().resolve({ discovery: { cache: { dir: 'c' }, servers: [stdio('a', './a')] } });
    expect(config.cache.dir).toBe(join(project, 'c'));
    expect(config.servers[0]?.connection).toMatchObject({ command: join(project, 'a') });
    expect(config).toMatchObject({ files: [], origin: undefined, warnings: [] });
    await failure(loader().resolve({ discovery: { nope: 1 } }));
    await failure(loader().resolve(undefined));
  });

  it('works with the example of the contract and with names like __proto__', async () => {
    const file = await write(
      'x/a.ts',
      `export default { discovery: { log: { level: 'info', file: undefined }, search: {}, limits: {}, retry: {},
        servers: ['__proto__', 'constructor', 'then', '../x', 'CON'].map((name) => ({ name, connection: { type: 'stdio', command: 'x' } })) } }`,
    );
    expect(names(await load({}, file))).toEqual(['__proto__', 'constructor', 'then', '../x', 'CON']);
  });
});

describe('extends', () => {
  it('merges settings by field, servers by name and rules in order, the own file first', async () => {
    const rule = (pattern: string) => ({ pattern: [pattern], enabled: false });
    await write('x/deep/base.yaml', 'discovery: {cache: {ttl: 7, dir: ./base-cache}, toolRules: [{pattern: [deep]}]}');
    await write('x/one.json', {
      cache: { ttl: 1 },
      log: { level: 'warn' },
      toolRules: [rule('one')],
      servers: [
        {
          ...stdio('s', './one', { env: { A: '1', B: '1' }, args: ['x'] }),
          timeouts: { connect: 1, call: 1 },
          concurrency: 2,
        },
        stdio('t', 't1'),
        { name: 'u', connection: { type: 'http', url: 'http://u', headers: { A: '1' } } },
      ],
    });
    await write(
      'x/two.ts',
      `export default { extends: './deep/base.yaml', log: { level: 'error' }, toolRules: [{ pattern: ['two'] }] }`,
    );
    const file = await write('own/a.json', {
      extends: ['../x/one.json', '../x/two.ts'],
      discovery: {
        cache: { enabled: false },
        toolRules: [rule('own')],
        servers: [
          {
            name: 's',
            enabled: false,
            timeouts: { call: 9 },
            connection: { type: 'stdio', command: 'own', env: { B: '2' } },
          },
          { name: 't', connection: { type: 'sse', url: 'http://t' } },
          { name: 'u', description: 'mine' },
        ],
      },
    });
    const config = await load({}, file);
    expect(config.cache).toEqual({ enabled: false, ttl: 7, dir: join(root, 'x', 'deep', 'base-cache') });
    expect(config.log.level).toBe('error');
    expect(config.toolRules.map(({ pattern }) => pattern[0])).toEqual(['own', 'two', 'deep', 'one']);
    expect(names(config)).toEqual(['s', 't', 'u']);
    expect(config.servers[0]).toMatchObject({
      enabled: false,
      concurrency: 2,
      timeouts: { connect: 1, call: 9 },
      connection: { command: 'own', args: ['x'], env: { A: '1', B: '2' } },
    });
    expect(config.servers[1]?.connection).toMatchObject({ type: 'sse', url: 'http://t' });
    expect(config.servers[2]).toMatchObject({
      description: 'mine',
      connection: { headers: { A: '1' } },
      origin: { file: join(root, 'x', 'one.json') },
    });
    expect(config.files).toEqual(
      ['own/a.json', 'x/two.ts', 'x/deep/base.yaml', 'x/one.json'].map((path) => join(root, path)),
    );
  });

  it('reports a circle, a missing file and the problems of every file at once', async () => {
    const file = await write('x/a.json', { extends: ['./b.json', './none.json', './list.json'], nope: 1 });
    await write('x/b.json', { extends: './a.json', log: { level: 'loud' } });
    await write('x/list.json', '[]');
    const { problems, message } = await failure(load({}, file));
    expect(message).toMatch(/extends forms a cycle: .*a\.json → .*b\.json → .*a\.json/);
    expect(problems).toHaveLength(5);
    expect(message).toMatch(/none\.json was not found/);
    expect(message).toMatch(/log\.level: expected one of/);
  });

  it('reads a file that is reached twice once, and shared files only for their section', async () => {
    await write('x/base.json', { toolRules: [{ pattern: ['once'] }] });
    await write('x/b.json', { extends: './base.json' });
    await write('x/anygpt.config.json', { chat: {} });
    const file = await write('x/a.json', { extends: ['./base.json', './b.json', './anygpt.config.json'] });
    expect((await load({}, file)).toolRules).toHaveLength(1);
  });

  it('shows at most fifty problems of a file and holds them all', async () => {
    const file = await write('x/a.json', { servers: Array.from({ length: 70 }, () => 5) });
    const { message, problems } = await failure(load({}, file));
    expect(message.split('\n')).toHaveLength(52);
    expect(message).toContain('and 20 more');
    expect(problems).toHaveLength(70);
  });

  it('bounds the number of files', async () => {
    for (let index = 0; index < 70; index++) await write(`x/f${index}.json`, { extends: `./f${index + 1}.json` });
    expect((await failure(load({}, join(root, 'x', 'f0.json')))).message).toContain('more than 64 files');
  });
});

describe('speed', () => {
  it('loads a thousand servers without stalling', async () => {
    const servers = Array.from({ length: 1000 }, (_, index) => ({
      ...stdio(`server-${index}`, 'npx', { args: ['-y', 'x'], env: { TOKEN: '${TOKEN}' } }),
      tools: [{ name: 'a', description: 'b' }],
    }));
    const file = await write('x/a.json', { servers });
    await load({}, file);
    const started = performance.now();
    expect((await load({}, file)).servers).toHaveLength(1000);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
