import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { VERSION } from '../core/version.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** What npm installs as commands. */
const bins: Record<'anygpt' | 'discovery', string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).bin;
let folder: ReturnType<typeof tempFolder>;
beforeAll(() => {
  for (const bin of Object.values(bins))
    expect(existsSync(join(root, bin)), `${bin} is missing: npm run build`).toBe(true);
  folder = tempFolder();
});
afterAll(() => folder[Symbol.dispose]());

/** Runs a real binary in an empty folder with an empty home. */
function run(bin: keyof typeof bins, argv: string[], { input = '', cwd = folder.path } = {}) {
  return finished(spawn(process.execPath, [join(root, bins[bin]), ...argv], { cwd, env: environment() }), input);
}

const environment = () => ({ PATH: process.env.PATH, HOME: folder.path, ANYGPT_HOME: join(folder.path, 'home') });

/** What a child that is given this input has said when it ends. */
function finished(child: ChildProcessWithoutNullStreams, input: string) {
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.end(input);
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, out, err })),
  );
}

const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '0' } },
})}\n`;

describe('the real binaries', () => {
  it('anygpt prints help without arguments, and its version', async () => {
    expect(await run('anygpt', [])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Usage: anygpt mcp'),
      err: '',
    });
    expect(await run('anygpt', ['--version'])).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
    expect(await run('anygpt', ['mcp', 'nonsense'])).toMatchObject({ code: 1, out: '' });
  });

  it.skipIf(process.platform === 'win32')('a folder that is gone: discovery serves, commands say so', async () => {
    const inGone = (bin: keyof typeof bins, argv: string[], input = '') => {
      const gone = join(folder.path, 'gone');
      mkdirSync(gone);
      const script = 'rmdir "$PWD" && exec "$@"';
      const words = ['-c', script, 'sh', process.execPath, join(root, bins[bin]), ...argv];
      return finished(spawn('sh', words, { cwd: gone, env: environment() }), input);
    };
    for (const argv of [[], ['mcp', 'serve']]) {
      const { code, out, err } = await inGone('discovery', argv, INITIALIZE);
      expect([code, out, err]).toEqual([
        0,
        expect.stringContaining('"serverInfo"'),
        expect.stringContaining('no longer exists'),
      ]);
    }
    for (const command of ['list', 'trust', 'doctor']) {
      const { code, err } = await inGone('anygpt', ['mcp', command]);
      expect([command, code, err]).toEqual([command, 2, expect.stringContaining('no longer exists')]);
      expect(err).not.toMatch(/internal error|\n {4}at /);
    }
    expect((await inGone('anygpt', ['--version'])).code).toBe(0);
  });

  it('discovery serves without arguments, and with options only', async () => {
    for (const argv of [[], ['--log-level', 'error']]) {
      const { code, out } = await run('discovery', argv, { input: INITIALIZE });
      expect(code).toBe(0);
      expect(JSON.parse(out).result.serverInfo).toMatchObject({ name: '@anygpt/discovery', version: VERSION });
    }
  });

  it('discovery takes all commands, too', async () => {
    expect(await run('discovery', ['--version'])).toMatchObject({ code: 0, out: `${VERSION}\n` });
    expect(await run('discovery', ['mcp', 'serve', '--nonsense'])).toMatchObject({ code: 1, out: '' });
    expect(await run('discovery', ['--nonsense'])).toMatchObject({ code: 1, out: '' });
  });

  it('end with 2 and precise words for a configuration that is wrong', async () => {
    const path = join(folder.path, 'bad.json');
    writeFileSync(path, '{"discovery":{"servers":[{"name":"x","connection":{"type":"stdio"}}],"chache":{}}}');
    const { code, out, err } = await run('anygpt', ['mcp', 'serve', '--config', path]);
    expect([code, out]).toEqual([2, '']);
    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(/^anygpt: ~.*bad\.json has 2 problems:$/),
      '  - discovery.servers[0].connection.command: is missing, expected string',
      '  - discovery.chache: unknown key, did you mean `cache`?',
    ]);
  });

  it('do not run a configuration that came with a folder, and say so', async () => {
    const cwd = join(folder.path, 'project');
    const witness = join(folder.path, 'was-run');
    mkdirSync(join(cwd, '.anygpt'), { recursive: true });
    writeFileSync(
      join(cwd, '.anygpt', 'mcp-discovery.config.mjs'),
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(witness)}, '');\nconsole.log('noise');\nexport default { servers: [] };\n`,
    );
    const refused = await run('discovery', [], { cwd, input: INITIALIZE });
    expect(refused.code).toBe(0);
    expect(refused.err).toContain('anygpt mcp trust');
    expect(existsSync(witness)).toBe(false);
    const trusted = await run('discovery', ['--trust-project'], { cwd, input: INITIALIZE });
    expect(existsSync(witness)).toBe(true);
    // What the file printed is not on stdout.
    expect(
      trusted.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual([1]);
  });
});
