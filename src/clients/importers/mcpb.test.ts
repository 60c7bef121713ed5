import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { zip } from '../../../test/fixtures/zip.ts';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import type { World } from '../../config/world.ts';
import { readZipEntry } from './zip-entry.ts';

const fixture = fileURLToPath(new URL('../../../test/fixtures/clients/mcpb/manifest.json', import.meta.url));
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'anygpt-mcpb-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const load = (path: string, changes: Partial<World> = {}) =>
  new ConfigurationLoader({ home, cwd: home, env: {}, platform: 'linux', ...changes }).resolve({
    sources: [{ type: 'mcpb', path }],
  });

async function unpacked(): Promise<string> {
  await mkdir(join(home, 'files'));
  await cp(fixture, join(home, 'files', 'manifest.json'));
  return join(home, 'files');
}

describe('an unpacked bundle', () => {
  it('is one server, with its tools known and what it asks for taken from the environment', async () => {
    const folder = await unpacked();
    for (const path of [folder, join(folder, 'manifest.json')]) {
      const config = await load(path);
      expect(config.warnings).toEqual([]);
      expect(config.servers).toMatchObject([
        {
          name: 'filesystem',
          description: 'Read and write files in the directories you choose.',
          enabled: true,
          connection: {
            type: 'stdio',
            command: 'node',
            args: [
              join(folder, 'server/index.js'),
              '--log=${FILESYSTEM_LOG_LEVEL:-info}',
              join(home, 'Desktop'),
              join(home, 'Documents'),
            ],
            env: { API_KEY: '${FILESYSTEM_API_KEY:-}', CACHE: `${home}/.cache` },
          },
          tools: [{ name: 'read_file', description: 'Read the contents of a file' }, { name: 'write_file' }],
        },
      ]);
    }
  });

  it('is what its manifest says for the platform', async () => {
    const { servers } = await load(await unpacked(), { platform: 'win32' });
    expect(servers[0]?.connection).toMatchObject({ command: 'node.exe', env: { CACHE: `${home}\\AppData` } });
    expect(servers[0]?.connection).not.toHaveProperty('env.API_KEY');
    const { servers: other, warnings } = await load(join(home, 'files'), { platform: 'freebsd' });
    expect(other[0]?.enabled).toBe(false);
    expect(warnings.join()).toContain('it does not run on freebsd; it is switched off');
  });

  it('names the variables that have to be set, and starts uv and binaries as they want it', async () => {
    const manifest = async (server: object, rest: object = {}) => {
      await mkdir(join(home, 'b'), { recursive: true });
      await writeFile(join(home, 'b', 'manifest.json'), JSON.stringify({ name: '1 b', server, ...rest }));
      return load('./b', { platform: 'win32' });
    };
    const asking = await manifest(
      {
        type: 'binary',
        mcp_config: { command: '${__dirname}/run', args: ['${user_config.key}', '${user_config.n}', '${X}', 5] },
      },
      { user_config: { key: { required: true }, n: { default: 7 } } },
    );
    expect(asking.warnings.join()).toContain('args[3]: expected string, got number');
    const good = await manifest(
      {
        type: 'binary',
        mcp_config: { command: '${__dirname}/run', args: ['${user_config.key}', '${user_config.n}', '${X}'] },
      },
      { user_config: { key: { required: true }, n: { default: 7 } } },
    );
    expect(good.servers[0]?.connection).toMatchObject({
      command: join(home, 'b', 'run.exe'),
      args: ['${_1_B_KEY}', '${_1_B_N:-7}', '$${X}'],
    });
    expect(good.warnings).toEqual([
      `${join(home, 'b')}: server: it needs the environment variable _1_B_KEY, which is not set.`,
    ]);
    const uv = await manifest({ type: 'uv', entry_point: 'main.py' });
    expect(uv.servers[0]?.connection).toMatchObject({
      command: 'uv',
      args: ['run', '--directory', join(home, 'b'), 'main.py'],
    });
  });

  it.each([
    ['{}', 'expected a manifest with `server`'],
    ['[]', 'expected a manifest with `server`'],
    ['{"server": {}}', 'expected a manifest with a `name`'],
    ['{"name": "x", "server": {"type": "node"}}', 'expected `server.mcp_config.command`'],
    ['{"name": ', 'manifest.json:1:10 is not valid JSON'],
  ])('without what it needs is an error: %s', async (text, message) => {
    await mkdir(join(home, 'b'));
    await writeFile(join(home, 'b', 'manifest.json'), text);
    expect((await load('b')).sources[0]).toMatchObject({ status: 'error', message: expect.stringContaining(message) });
  });

  it('that is not there is missing', async () => {
    expect((await load('gone.mcpb')).sources).toMatchObject([{ status: 'missing' }]);
    await mkdir(join(home, 'b'));
    expect((await load('b')).sources[0]?.message).toContain('not an MCPB bundle');
  });
});

describe('a packed bundle', () => {
  const write = async (content: Buffer) => {
    await writeFile(join(home, 'files.mcpb'), content);
    return load('files.mcpb');
  };
  const manifest = () => readFile(fixture);

  it('is listed, and runs once it is unpacked beside itself', async () => {
    for (const method of [0, 8]) {
      const config = await write(
        zip(
          [
            { name: 'server/index.js', data: Buffer.from('x') },
            { name: 'manifest.json', data: await manifest(), method },
          ],
          'a comment',
        ),
      );
      expect(config.servers).toMatchObject([{ name: 'filesystem', enabled: false }]);
      expect(config.warnings[0]).toContain(`it has to be unpacked into ${join(home, 'files')} before it can run`);
    }
    await unpacked();
    const config = await load('files.mcpb');
    expect(config.servers).toMatchObject([{ enabled: true }]);
    expect(config.servers[0]?.connection).toHaveProperty('args.0', join(home, 'files/server/index.js'));
  });

  it('that is damaged, encrypted, a bomb or without a manifest is an error', async () => {
    const data = await manifest();
    const message = async (content: Buffer) => (await write(content)).sources[0]?.message;
    const whole = zip([{ name: 'manifest.json', data }]);
    expect(await message(whole.subarray(0, whole.length - 10))).toContain('not a zip file, or file is truncated');
    expect(await message(Buffer.alloc(0))).toContain('not a zip file, or file is truncated');
    expect(await message(zip([{ name: 'other', data }]))).toContain('no manifest.json');
    expect(await message(zip([{ name: 'manifest.json', data, flags: 1 }]))).toContain('is encrypted');
    expect(await message(zip([{ name: 'manifest.json', data, method: 12 }]))).toContain(
      'unsupported compression method',
    );
    expect(await message(zip([{ name: 'manifest.json', data, size: 2 ** 31 }]))).toContain('larger than 1 MiB');
    const bomb = zip([{ name: 'manifest.json', data: Buffer.alloc(64 * 1024 * 1024), size: 10 }]);
    expect(await message(bomb)).toContain('too many bytes');
    const shifted = Buffer.concat([Buffer.alloc(3), whole]);
    expect(await message(shifted)).toContain('not a usable zip archive');
  });

  it('never does more than fail, whatever bytes are changed', async () => {
    const whole = zip([{ name: 'manifest.json', data: Buffer.from('{}') }]);
    const path = join(home, 'x.mcpb');
    const change = fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        await writeFile(path, bytes);
        const text = await readZipEntry(path, 'manifest.json').catch((error: Error) => error.message);
        expect(typeof text === 'string' || text === undefined).toBe(true);
        if (typeof text === 'string' && text !== '{}' && text.includes('zip')) expect(text).toContain(path);
      }),
      { numRuns: 200 },
    );
  });
});
