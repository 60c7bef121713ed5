import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, root, runBinary } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { serverLogFile } from '../../engine/server-logs.ts';
import { followFile } from '../follow-file.ts';
import { main } from '../main.ts';

/** Dies of its only tool, and says why on stderr. */
const FRAIL = `
import { createInterface } from 'node:readline';
const RESULTS = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'frail', version: '1' } },
  'tools/list': { tools: [{ name: 'die', inputSchema: { type: 'object' } }] },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (RESULTS[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] }));
  else if (method === 'tools/call') process.stderr.write('the disk is full\\n', () => process.exit(7));
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }));
});
`;

let folder: ReturnType<typeof tempFolder>;
let env: Record<string, string>;
beforeEach(() => {
  folder = tempFolder();
  const path = (name: string) => join(folder.path, name);
  const notes = JSON.stringify(new URL('../../../examples/servers/notes.mjs', import.meta.url).href);
  writeFileSync(
    path('loud.mjs'),
    `console.error('\\u001b[31mstarting with ' + process.env.TOKEN);\nawait import(${notes});\n`,
  );
  writeFileSync(path('dead.mjs'), `console.error('cannot find my database');\nprocess.exit(3);\n`);
  writeFileSync(path('frail.mjs'), FRAIL);
  const local = (script: string) => ({ type: 'stdio', command: process.execPath, args: [path(script)] });
  const servers = [
    { name: 'loud', connection: { ...local('loud.mjs'), env: { TOKEN: '${LOUD_TOKEN}' } } },
    { name: 'dead', connection: local('dead.mjs') },
    { name: 'frail', connection: local('frail.mjs') },
    { name: 'away', connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } },
  ];
  writeFileSync(path('config.json'), JSON.stringify({ servers }));
  env = { ANYGPT_HOME: path('home'), ANYGPT_CONFIG: path('config.json'), LOUD_TOKEN: 'tok-123456789abc' };
});
afterEach(() => folder[Symbol.dispose]());

const start = (...argv: string[]) => {
  const io = fakeIo({ cwd: folder.path, env });
  return { io, done: main(['mcp', ...argv], io) };
};
const run = async (...argv: string[]) => {
  const { io, done } = start(...argv);
  return { code: await done, out: io.out(), err: io.err() };
};

describe('logs', () => {
  it('shows what the last run wrote, whichever process started it, and starts nothing', async () => {
    expect(await run('logs', 'loud')).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining(
        'There is no log of loud yet. To start the server now: anygpt mcp logs loud --start',
      ),
    });
    await run('tools', 'loud');
    const { code, out, err } = await run('logs', 'loud');
    expect([code, out.split('\n')[0]]).toEqual([0, 'starting with ***']);
    expect(err).toMatch(/^anygpt: Run of \d{4}-\S+Z:\n$/);
    const document = await documentOf('logs', (await run('logs', 'loud', '--json')).out);
    expect(document.log).toContain('starting with ***');
    expect(document.startedAt).toMatch(/^\d{4}-/);
  });

  it('keeps the last words of a server that did not come up', async () => {
    expect((await run('tools', 'dead')).code).toBe(3);
    const { code, out } = await run('logs', 'dead');
    expect(code).toBe(0);
    expect(out).toContain('cannot find my database\n');
    expect(out).toContain('=== ended: dead could not be started: it exited with code 3');
  });

  it('has what a server wrote that died during a call, and the failed call says where to look', async () => {
    const failed = await run('execute', 'frail', 'die');
    expect(failed).toMatchObject({ code: 3, out: expect.stringContaining('exited with code 7') });
    expect(failed.err).toBe('anygpt: "anygpt mcp logs frail" shows what it wrote.\n');
    expect((await run('logs', 'frail')).out).toContain('the disk is full\n');
    expect((await run('execute', 'frail', 'die', '--json')).err).toBe('');
    expect((await run('execute', 'away', 'die')).err).toBe('');
  });

  it('with --start starts the server and shows what it writes now', async () => {
    const { code, out, err } = await run('logs', 'loud', '--start');
    expect([code, out, err]).toEqual([0, 'starting with ***\n', '']);
    expect(await documentOf('logs', (await run('logs', 'loud', '--start', '--json')).out)).toMatchObject({
      server: 'loud',
    });
    expect(await run('logs', 'dead', '--start')).toMatchObject({ code: 3, err: expect.stringContaining('code 3') });
    expect(await run('logs', 'away', '--start', '--timeout', '2')).toMatchObject({ code: 3 });
  });

  it('knows servers that run elsewhere, and those there are', async () => {
    expect(await run('logs', 'away')).toMatchObject({
      code: 0,
      err: 'anygpt: away is a remote server (http), so its stderr is not available. To check it: anygpt mcp doctor away\n',
    });
    expect(await run('logs', 'lod')).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean "loud"?') });
    expect((await run('logs')).code).toBe(1);
    expect((await run('logs', 'loud', '--follow', '--json')).code).toBe(1);
    expect((await run('logs', 'loud', '--timeout', '5')).code).toBe(1);
  });

  it('with --follow goes on until Ctrl-C', async () => {
    await run('tools', 'loud');
    const { io, done } = start('logs', 'loud', '--follow');
    await expect.poll(() => io.out()).toContain('starting with');
    appendFileSync(serverLogFile(env.ANYGPT_HOME as string, 'loud'), 'and \u001b[31mmore\n');
    await expect.poll(() => io.out()).toContain('and more\n');
    io.signal('SIGINT');
    expect(await done).toBe(130);
  });

  it('with --start --follow shows the run it starts', async () => {
    const { io, done } = start('logs', 'loud', '--start', '--follow');
    await expect.poll(() => io.out(), { timeout: 10_000 }).toContain('starting with ***');
    io.signal('SIGTERM');
    expect(await done).toBe(143);
  });

  it('takes the line of progress away before a line of the log', async () => {
    const io = fakeIo({ cwd: folder.path, env });
    Object.assign(io.stderr, { isTTY: true, columns: 80 });
    let screen = '';
    for (const stream of [io.stdout, io.stderr]) {
      const write = stream.write.bind(stream);
      stream.write = ((text: string) => {
        screen += text;
        return write(text);
      }) as typeof stream.write;
    }
    const done = main(['mcp', 'logs', 'loud', '--start', '--follow'], io);
    await expect.poll(() => screen, { timeout: 10_000 }).toContain('starting with ***');
    io.signal('SIGINT');
    await done;
    expect(screen).toContain('Starting loud');
    const before = screen.slice(0, screen.indexOf('=== started'));
    expect(before).toMatch(/\r\u001b\[2K$/);
  });

  it('through the real binary splits result and remarks, and ends on Ctrl-C', async () => {
    await runBinary(['tools', 'loud'], { cwd: folder.path, env });
    const { code, out, err } = await runBinary(['logs', 'loud'], { cwd: folder.path, env });
    expect([code, out.split('\n')[0]]).toEqual([0, 'starting with ***']);
    expect(err).toContain('Run of');
    const child = spawn(process.execPath, [join(root, 'dist/bin/anygpt.js'), 'mcp', 'logs', 'loud', '-f'], {
      cwd: folder.path,
      env: { PATH: process.env.PATH, ...env },
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    await expect.poll(() => text, { timeout: 10_000 }).toContain('starting with');
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });
});

describe('following a file', () => {
  it('goes on with what is added, waits for one that is not there, and begins anew with one that is replaced', async () => {
    const file = join(folder.path, 'new', 'file.log');
    const stop = new AbortController();
    let text = '';
    const onText = (more: string) => {
      text += more;
    };
    const done = followFile(file, { from: 0, onText, signal: stop.signal, everyMs: 5 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    mkdirSync(dirname(file));
    writeFileSync(file, 'one\n');
    await expect.poll(() => text).toBe('one\n');
    const two = Buffer.from('zwö\n');
    appendFileSync(file, two.subarray(0, 3));
    await expect.poll(() => text).toBe('one\nzw');
    appendFileSync(file, two.subarray(3));
    await expect.poll(() => text).toBe('one\nzwö\n');
    renameSync(file, `${file}.old`);
    writeFileSync(file, 'three, longer than what was there\n');
    await expect.poll(() => text).toBe('one\nzwö\nthree, longer than what was there\n');
    writeFileSync(file, 'four\n');
    await expect.poll(() => text).toContain('\nfour\n');
    stop.abort();
    await done;
  });
});
