import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentOf, type Ran, root, runBinary } from '../../../test/fixtures/cli.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';

const SERVERS = ['calendar', 'notes', 'units', 'weather'];
let folder: ReturnType<typeof tempFolder>;
let env: Record<string, string>;
const run = (argv: string[], input = ''): Promise<Ran> => runBinary(argv, { cwd: folder.path, env, input });
const write = (name: string, value: unknown): string => {
  const path = join(folder.path, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const sample = (name: string) => ({
  name,
  connection: { type: 'stdio', command: process.execPath, args: [join(root, 'examples', 'servers', `${name}.mjs`)] },
});

beforeAll(async () => {
  folder = tempFolder();
  const broken = { name: 'broken', connection: { type: 'stdio', command: '/nonexistent/server' } };
  const toolRules = [
    { pattern: ['delete_*'], enabled: false, tags: ['dangerous'] },
    { pattern: ['nothing_*'], enabled: false },
  ];
  const config = write('config.json', { discovery: { servers: [...SERVERS.map(sample), broken], toolRules } });
  env = { ANYGPT_HOME: join(folder.path, 'home'), ANYGPT_CONFIG: config };
});
afterAll(() => folder[Symbol.dispose]());

describe('the first command', () => {
  it('waits for servers without a list, names those that are missing, and prints only the result on stdout', async () => {
    const { code, out, err } = await run(['search', 'weather', 'forecast']);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Search results for "weather forecast" \(\d+ found\):\n\n1\. weather:forecast \(\d+% match\)\n {3}\S/,
    );
    expect(err).toMatch(/^anygpt: broken not searched: /);
    expect(out + err).not.toContain('\u001b');
  });
});

describe('exit codes of the real binary', () => {
  const cases: [number, string, string[]][] = [
    [0, 'list', ['list']],
    [0, 'list', ['list', '--status', '--tools']],
    [1, 'failure', ['list', '--stats']],
    [1, 'failure', ['list', 'surplus']],
    [0, 'search', ['search', 'note']],
    [1, 'failure', ['search']],
    [1, 'failure', ['search', 'note', '--limit', '0']],
    [2, 'search', ['search', 'zzzqqq', '--server', 'notes']],
    [2, 'failure', ['search', 'note', '--server', 'nots']],
    [0, 'tools', ['tools', 'notes', '--all']],
    [1, 'failure', ['tools']],
    [2, 'failure', ['tools', 'nots']],
    [3, 'failure', ['tools', 'broken']],
    [0, 'inspect', ['inspect', 'notes', 'create_note']],
    [0, 'inspect', ['inspect', 'notes:create_note']],
    [1, 'failure', ['inspect', 'notes']],
    [2, 'failure', ['inspect', 'notes', 'creat_note']],
    [4, 'failure', ['inspect', 'notes', 'delete_note']],
    [0, 'export', ['export', 'notes', 'units']],
    [1, 'failure', ['export', '--format', 'yaml']],
    [2, 'failure', ['export', 'nots']],
    [3, 'failure', ['export', 'broken']],
    [0, 'execute', ['execute', 'units', 'convert_length', 'value=3', 'from=km', 'to=m']],
    [1, 'failure', ['execute', 'units', 'convert_length', '--args', '{']],
    [1, 'execute', ['execute', 'units', 'convert_length', 'value=three', 'from=km', 'to=m']],
    [1, 'execute', ['execute', 'weather', 'forecast', '--args', '{"city":"Berlin","days":40}']],
    [2, 'execute', ['execute', 'nots', 'x']],
    [2, 'execute', ['execute', 'notes', 'nope']],
    [3, 'execute', ['execute', 'notes', 'get_note', 'id=none']],
    [3, 'execute', ['execute', 'broken', 'x']],
    [4, 'execute', ['execute', 'notes', 'delete_note', 'id=note-1']],
    [0, 'config-show', ['config', 'show']],
    [0, 'config-validate', ['config', 'validate']],
    [0, 'config-sources', ['config', 'sources']],
    [0, 'config-reload', ['config', 'reload']],
    [1, 'failure', ['config', 'shwo']],
    [1, 'failure', ['config']],
    [0, 'logs', ['logs', 'notes']],
    [2, 'failure', ['logs', 'nots']],
    [0, 'logs', ['logs', 'broken']],
    [0, 'logs', ['logs', 'notes', '--start']],
    [3, 'failure', ['logs', 'broken', '--start']],
    [1, 'failure', ['logs', 'notes', '--follow']],
    [0, 'cache-clear', ['cache', 'clear', 'calendar']],
    [2, 'failure', ['cache', 'clear', 'nots']],
    [1, 'failure', ['cache', 'fill']],
  ];
  it.each(cases)('%i with the document %s for %j', async (code, schema, argv) => {
    const { code: ended, out, err } = await run([...argv, '--json']);
    expect([ended, err]).toEqual([code, '']);
    const document = await documentOf(schema, out);
    if (code !== 0 && schema !== 'search') expect(document.success).toBe(false);
  });

  it('are 2 for a configuration that is wrong, whatever the command', async () => {
    const path = write('wrong.json', { discovery: { servrs: [], cache: { ttl: 'long' } } });
    for (const argv of [['list'], ['search', 'x'], ['execute', 'a', 'b'], ['config', 'show']]) {
      const { code, out, err } = await run([...argv, '--config', path]);
      expect([code, out], argv.join(' ')).toEqual([2, '']);
      expect(err).toContain('servrs');
      expect(err).toContain('cache.ttl');
      const asJson = await run([...argv, '--config', path, '--json']);
      expect([asJson.code, asJson.err]).toEqual([2, '']);
      expect((await documentOf('failure', asJson.out)).error.code).toBe('CONFIGURATION_ERROR');
    }
    const { code, out, err } = await run(['config', 'validate', '--config', path, '--json']);
    expect([code, err]).toEqual([2, '']);
    expect(await documentOf('config-validate', out)).toMatchObject({
      valid: false,
      errors: [{}, {}].map(() => expect.any(String)),
    });
  });
});

describe('execute', () => {
  it('prints the blocks of the specification on stdout', async () => {
    const { out, err } = await run(['execute', 'notes', 'get_note', 'id=note-1']);
    expect(err).toBe('');
    expect(out).toMatch(/^Executing: notes:get_note\n\n✓ Success\n\nResult:\n {2}\{\n {4}"id": "note-1",/);
    const failed = await run(['execute', 'notes', 'get_note', 'id=none']);
    expect(failed.out).toBe(
      'Executing: notes:get_note\n\n✗ Error\n\nCode: TOOL_EXECUTION_ERROR\nMessage: There is no note "none". Use list_notes to see the ids.\nServer: notes\nTool: get_note\n',
    );
  });

  it('takes arguments from a file and from stdin, and adds pairs to them', async () => {
    const file = write('arguments.json', { value: 1, from: 'km' });
    const fromFile = await run(['execute', 'units', 'convert_length', '--args', `@${file}`, 'to=m', '--json']);
    expect(JSON.parse(fromFile.out)).toEqual({ success: true, result: { value: 1000, unit: 'm' } });
    const fromStdin = await run(
      ['execute', 'units:convert_length', '--args', '-', '--json'],
      '{"value":2,"from":"km","to":"m"}',
    );
    expect(JSON.parse(fromStdin.out).result.value).toBe(2000);
  });
});

describe('a warm search', () => {
  it('starts no server, and --offline never does', async () => {
    const config = write('witness.json', {
      servers: [
        { name: 'notes', connection: { type: 'stdio', command: process.execPath, args: ['witness.mjs'], cwd: '.' } },
      ],
    });
    const target = JSON.stringify(join(root, 'examples', 'servers', 'notes.mjs'));
    write(
      'witness.mjs',
      `import { appendFileSync } from 'node:fs';\nappendFileSync('starts', 'x');\nawait import(${target});\n`,
    );
    const starts = () =>
      existsSync(join(folder.path, 'starts')) ? readFileSync(join(folder.path, 'starts'), 'utf8') : '';
    const search = (...argv: string[]) => run(['search', 'note', '--config', config, ...argv]);
    expect(await search('--offline')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('offline') });
    expect(starts()).toBe('');
    expect((await search()).code).toBe(0);
    expect((await search()).code).toBe(0);
    expect((await search('--offline')).code).toBe(0);
    expect(starts()).toBe('x');
    expect((await search('--refresh')).code).toBe(0);
    expect(starts()).toBe('xx');
  });
});

describe('what a command loads', () => {
  /** The bundle's own files that one run loads. */
  const loadedBy = async (...argv: string[]): Promise<string> => {
    const tracer = write(
      'tracer.cjs',
      `process.on('exit', () => Object.keys(require.cache).forEach((file) => process._rawDebug('loads ' + file)));\n`,
    );
    const { err } = await runBinary(argv, { cwd: folder.path, env: { ...env, NODE_OPTIONS: `--require=${tracer}` } });
    const files = [...err.matchAll(/^loads .*[\\/]bin[\\/](.+)$/gm)].map(([, file]) => String(file));
    expect(files).toContain('anygpt.js');
    return files.join('\n');
  };

  it('is next to nothing for help', async () => {
    for (const argv of [['--help'], ['search', '--help'], ['config', '--help']])
      expect(await loadedBy(...argv)).not.toMatch(/^(?:engine|open-connection|dist|upstream)-/m);
  });

  it('is no connection, no execution and no SDK for a warm search', async () => {
    await run(['search', 'note', '--server', 'notes']);
    const files = await loadedBy('search', 'note', '--server', 'notes');
    expect(files).toMatch(/^engine-/m);
    expect(files).not.toMatch(/^(?:open-connection|engine-execution|dist|upstream)-/m);
  });
});

describe('manners', () => {
  it('a configuration that prints does not spoil stdout', async () => {
    const path = write('loud.mjs', `console.log('noise');\nexport default { servers: [] };\n`);
    const { code, out, err } = await run(['list', '--json', '--config', path]);
    expect(code).toBe(0);
    await documentOf('list', out);
    expect(err).toContain('noise');
  });

  it('config reload touches the stamp that running gateways watch', async () => {
    const stamp = join(folder.path, 'home', 'reload');
    await run(['config', 'reload', '--offline']);
    const before = statSync(stamp).mtimeMs;
    const { code, out } = await run(['config', 'reload', '--offline']);
    expect([code, out]).toEqual([0, expect.stringContaining('running gateways will reload')]);
    expect(statSync(stamp).mtimeMs).toBeGreaterThan(before);
  });

  it.skipIf(process.platform === 'win32')('a reader that leaves early is no error', async () => {
    const bin = join(root, 'dist', 'bin', 'anygpt.js');
    const child = spawn(
      'sh',
      [
        '-c',
        `"${process.execPath}" "${bin}" mcp tools weather | true; "${process.execPath}" "${bin}" --help | head -1`,
      ],
      {
        cwd: folder.path,
        env: { PATH: process.env.PATH, HOME: folder.path, ...env },
      },
    );
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    child.stdout.resume();
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
    expect(said).toBe('');
  });

  it.skipIf(process.platform !== 'linux')('Ctrl-C ends it and everything it started', async () => {
    write(
      'hangs.mjs',
      `import { writeFileSync } from 'node:fs';\nwriteFileSync('pid', String(process.pid));\nprocess.stdin.resume();\n`,
    );
    const config = write('hangs.json', {
      servers: [
        { name: 'hangs', connection: { type: 'stdio', command: process.execPath, args: ['hangs.mjs'], cwd: '.' } },
      ],
    });
    const child = spawn(
      process.execPath,
      [join(root, 'dist', 'bin', 'anygpt.js'), 'mcp', 'search', 'x', '--config', config],
      {
        cwd: folder.path,
        env: { PATH: process.env.PATH, HOME: folder.path, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk;
      });
    await expect.poll(() => existsSync(join(folder.path, 'pid')), { timeout: 10_000 }).toBe(true);
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130);
    expect(said).toBe('');
    const pid = readFileSync(join(folder.path, 'pid'), 'utf8');
    expect(readdirSync('/proc')).not.toContain(pid);
  });
});

describe('config reload', () => {
  it('names the server it does not wait for any longer', async () => {
    const connection = { type: 'stdio', command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
    const config = write('dead.json', { servers: [sample('units'), { name: 'dead', connection }] });
    const { code, out, err } = await run(['config', 'reload', '--timeout', '2s', '--config', config]);
    expect(code).toBe(0);
    expect(err).toContain('dead did not list its tools within 2 s.');
    expect(err).toContain('dead will be tried again when needed');
    expect(out).toContain('2 servers, 1 of them without a tool list; running gateways will reload');
  });
});

describe('slips of a first day', () => {
  it('get a mark that promises nothing, the server that was meant, and the place where pasted servers belong', async () => {
    const fresh = { cwd: folder.path, env: { ...env, ANYGPT_HOME: join(folder.path, 'fresh') } };
    const before = await runBinary(['list'], fresh);
    expect(before.out).toContain('· notes\n');
    expect(before.out).not.toContain('✓');
    await runBinary(['tools', 'notes'], fresh);
    expect((await runBinary(['list'], fresh)).out).toMatch(/✓ notes \(8 tools, 1 disabled, listed just now\)\n/);
    const typo = await run(['search', 'server:nots', 'note']);
    expect([typo.code, typo.err]).toEqual([2, expect.stringContaining('Did you mean server:notes?')]);
    const filters = await run(['search', 'server:notes']);
    expect(filters.out).toContain('1. notes:append_to_note\n');
    const pasted = write('pasted.json', { mcpServers: { a: { command: 'a' } } });
    const { code, out } = await run(['config', 'validate', '--config', pasted]);
    expect([code, out]).toEqual([2, expect.stringContaining('{ "type": "custom", "path": "./mcp.json" }')]);
  });
});
