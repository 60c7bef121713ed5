import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve, sep } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DiscoveryError, ValidationError } from '../core/errors.ts';
import { entryFileName, entryKey } from './entry-file.ts';
import { FileStore } from './file-store.ts';

const children: ChildProcess[] = [];
let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
  root = join(folder, 'cache');
});
afterEach(async () => {
  // A failed test must not leave a writer running.
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const bytes = (text: string): Uint8Array => Buffer.from(text);
const posix = process.platform !== 'win32';

describe('a file name', () => {
  test('of any key stays inside the folder and is plain on every platform', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (key) => {
        const name = entryFileName(key);
        expect(name).toMatch(/^[a-z0-9_-]{0,40}-[0-9a-f]{32}\.entry$/);
        expect(resolve('/home/me/cache', name).startsWith(`${resolve('/home/me/cache')}${sep}`)).toBe(true);
      }),
    );
  });

  test('belongs to one key only, whatever the case, form or broken surrogates', () => {
    const unit = fc.oneof(
      fc.constantFrom('a', 'A', '/', '.', 'é', 'e\u0301', '\ud800', '\ud801', '\udc00'),
      fc.string(),
    );
    const key = fc.array(unit, { maxLength: 5 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        key,
        key,
        (a, b) => (entryFileName(a).toLowerCase() === entryFileName(b).toLowerCase()) === (a === b),
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('a file store', () => {
  test('makes its folder at the first write, all of it for its owner only', async () => {
    const store = new FileStore(root);
    await store.read('a');
    await expect(stat(root)).rejects.toThrow('ENOENT');
    await store.write('a', bytes('x'));
    if (posix) {
      expect((await stat(root)).mode & 0o777).toBe(0o700);
      expect((await stat(store.pathOf('a'))).mode & 0o777).toBe(0o600);
    }
    expect(await readdir(root)).toHaveLength(1);
    await rm(root, { recursive: true });
    await store.write('a', bytes('y'));
    expect(Buffer.from((await store.read('a')) ?? []).toString()).toBe('y');
  });

  test.runIf(process.platform === 'linux')(
    'says so where no folder can be made, and does not try for ever',
    async () => {
      const store = new FileStore('/proc/anygpt/cache');
      await expect(store.write('a', bytes('x'))).rejects.toThrow(/ENOENT.*choose another/);
    },
  );

  test.runIf(posix)('replaces a link instead of writing through it, and does not read through it', async () => {
    const target = join(folder, 'precious');
    await writeFile(target, 'precious');
    await mkdir(root);
    const store = new FileStore(root);
    await symlink(target, store.pathOf('a'));
    await symlink(target, store.pathOf('b'));
    expect(await store.read('a')).toBeUndefined();
    expect(await store.read('b')).toBeUndefined();
    await store.write('b', bytes('mine'));
    expect(Buffer.from((await store.read('b')) ?? []).toString()).toBe('mine');
    expect(await readFile(target, 'utf8')).toBe('precious');
  });

  test('moves what is damaged aside and can be written again', async () => {
    const store = new FileStore(root);
    const damage: Record<string, (path: string) => Promise<unknown>> = {
      empty: (path) => truncate(path, 0),
      short: async (path) => truncate(path, (await stat(path)).size - 1),
      garbage: (path) => writeFile(path, 'garbage'),
      huge: (path) => truncate(path, 3 * 1024 ** 3),
      folder: async (path) => {
        await rm(path);
        await mkdir(path);
        await writeFile(join(path, 'x'), '');
      },
      foreign: async (path) => writeFile(path, await readFile(store.pathOf('other'))),
    };
    await store.write('other', bytes('other'));
    for (const [key, spoil] of Object.entries(damage)) {
      await store.write(key, bytes('value'));
      await spoil(store.pathOf(key));
      expect(await store.read(key)).toBeUndefined();
      await expect(stat(store.pathOf(key))).rejects.toThrow('ENOENT');
      await store.write(key, bytes('again'));
      expect(Buffer.from((await store.read(key)) ?? []).toString()).toBe('again');
    }
    const aside = (await readdir(root)).filter((name) => name.includes('.corrupt-'));
    expect(aside).toHaveLength(3);
    await store.clear();
    expect(await readdir(root)).toEqual([]);
  });

  test('never shows a value of which a single bit has changed, wherever in the file', async () => {
    const store = new FileStore(root);
    const value = bytes('{"tools":[{"name":"read_file","description":"Reads a file."}]}');
    await store.write('a', value);
    const whole = await readFile(store.pathOf('a'));
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const spoilt = Buffer.from(whole);
      spoilt[bit >> 3] = (spoilt[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await writeFile(store.pathOf('a'), spoilt);
      expect([bit, await store.read('a')]).toEqual([bit, undefined]);
    }
    expect(await store.read('a')).toBeUndefined();
    await writeFile(store.pathOf('a'), whole);
    expect(Buffer.from((await store.read('a')) ?? [])).toEqual(value);
  });

  test('writes over a folder that stands in its place, and lists only files it can read', async () => {
    const store = new FileStore(root);
    await mkdir(store.pathOf('a'), { recursive: true });
    await mkdir(store.pathOf('b'));
    await writeFile(store.pathOf('c'), 'anygpt-store/2 0 {not json\n');
    await writeFile(store.pathOf('d'), 'anygpt-store/2 0 "other"\n');
    await writeFile(store.pathOf('e'), 'anygpt-store/2 0 7\n');
    await writeFile(store.pathOf('f'), 'zip\n');
    await writeFile(join(root, 'README'), 'not ours');
    await store.write('a', bytes('x'));
    expect(await store.keys()).toEqual(['a']);
    await store.clear();
    expect(await readdir(root)).toContain('README');
    expect(entryKey(bytes(''))).toBeUndefined();
  });

  test.runIf(posix)('does not hang on a pipe in its place', async () => {
    const store = new FileStore(root);
    await mkdir(root);
    execFileSync('mkfifo', [store.pathOf('a')]);
    expect(await store.read('a')).toBeUndefined();
  });

  test('sweeps temporary files of writers that died, and leaves young ones alone', async () => {
    const store = new FileStore(root);
    await mkdir(root);
    const old = `${store.pathOf('a')}.123-0123456789abcdef.tmp`;
    const young = `${store.pathOf('a')}.124-0123456789abcdef.tmp`;
    await writeFile(old, '');
    await writeFile(young, '');
    await utimes(old, new Date(Date.now() - 3_700_000), new Date(Date.now() - 3_700_000));
    await store.write('b', bytes('x'));
    const names = await readdir(root);
    expect(names).not.toContain(basename(old));
    expect(names).toContain(basename(young));
    expect(await store.keys()).toEqual(['b']);
  });

  test('says STORAGE_ERROR and what to do when the disk refuses, and goes on when it no longer does', async () => {
    await writeFile(root, 'a file where the folder should be');
    const store = new FileStore(root);
    for (const act of [() => store.write('a', bytes('x')), () => store.read('a'), () => store.keys()]) {
      const error = await act().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(DiscoveryError);
      expect(error).toMatchObject({ code: 'STORAGE_ERROR' });
      expect((error as Error).message).toMatch(/ENOTDIR.*ANYGPT_CACHE_DIR/);
    }
    await rm(root);
    await store.write('a', bytes('x'));
    expect(await store.keys()).toEqual(['a']);
  });

  test.skipIf(!posix || process.getuid?.() === 0)('says STORAGE_ERROR in a folder it may not write', async () => {
    await mkdir(root);
    await chmod(root, 0o500);
    await expect(new FileStore(root).write('a', bytes('x'))).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    await chmod(root, 0o700);
  });

  test('refuses keys and values beyond all measure', async () => {
    const store = new FileStore(root);
    await expect(store.read('x'.repeat(4_097))).rejects.toThrow(ValidationError);
    await expect(store.write('a', new Uint8Array(64 * 1024 * 1024 + 1))).rejects.toThrow(ValidationError);
  });
});

describe.runIf(posix)('with other processes', () => {
  test('a full disk in the middle of a write leaves the old value and no temporary file', async () => {
    const script = `
      process.on('SIGXFSZ', () => {});
      await store.write('a', Buffer.from('old'));
      await store.write('a', Buffer.alloc(100_000)).then(() => console.log('ok'), (e) => console.log(e.code, e.cause.code));`;
    const child = start(script, 'ulimit -f 8; ');
    expect(await output(child)).toBe('STORAGE_ERROR EFBIG\n');
    expect(await readdir(root)).toHaveLength(1);
    expect(Buffer.from((await new FileStore(root).read('a')) ?? []).toString()).toBe('old');
  });

  test('several that rewrite the same keys never show half a value', async () => {
    const script = `
      for (let i = 0; i < 40; i++) {
        const key = 'k' + (i % 3);
        await store.write(key, Buffer.from(JSON.stringify({ i, pad: process.pid + 'x'.repeat(20_000) })));
        const found = await store.read('k' + ((i + 1) % 3));
        if (found) JSON.parse(Buffer.from(found).toString());
      }
      console.log('done');`;
    const writers = Array.from({ length: 4 }, () => start(script));
    expect(await Promise.all(writers.map(output))).toEqual(Array(4).fill('done\n'));
    const store = new FileStore(root);
    expect(await store.keys()).toEqual(['k0', 'k1', 'k2']);
    expect((await readdir(root)).filter((name) => !name.endsWith('.entry'))).toEqual([]);
  });

  test('one killed at any moment leaves every value whole', async () => {
    const script = `
      console.log('ready');
      for (let i = 0; ; i++) await store.write('k' + (i % 4), Buffer.alloc(50_000, String(i % 10)));`;
    for (let round = 0; round < 4; round++) {
      const child = start(script);
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      await new Promise((resolve) => setTimeout(resolve, 10 + round * 17));
      child.kill('SIGKILL');
      await once(child, 'close');
      const store = new FileStore(root, { now: () => Date.now() + 4_000_000 });
      for (const key of await store.keys()) {
        const value = await store.read(key);
        expect(value).toHaveLength(50_000);
        expect(new Set(value).size).toBe(1);
      }
      await store.write('k0', Buffer.alloc(50_000, 'x'));
      expect((await readdir(root)).filter((name) => !name.endsWith('.entry'))).toEqual([]);
    }
  });
});

/** Runs a script with a `store` on the same folder in a separate process. */
function start(script: string, before = ''): ChildProcess {
  const load = `const { createJiti } = await import('jiti');
    const { FileStore } = await createJiti(process.argv[1], { fsCache: false }).import(process.argv[1]);
    const store = new FileStore(process.argv[2]);`;
  const source = join(import.meta.dirname, 'file-store.ts');
  const command = [process.execPath, '--input-type=module', '-e', load + script, source, root];
  const [program = '', ...rest] = before === '' ? command : ['bash', '-c', `${before}exec "$@"`, 'bash', ...command];
  const child = spawn(program, rest, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

async function output(child: ChildProcess): Promise<string> {
  let out = '';
  child.stdout?.on('data', (data: Buffer) => {
    out += data.toString();
  });
  await once(child, 'close');
  return out;
}
