import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import { previewFile } from './project-files.ts';
import { TrustStore } from './trust-store.ts';
import { realWorld } from './world.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'anygpt-trust-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('TrustStore', () => {
  it('trusts a path only with the content it was trusted at', async () => {
    const store = new TrustStore(join(folder, 'state'));
    expect(await store.isTrusted('/p/a.json', 'h1')).toBe(false);
    await store.trust('/p/a.json', 'h1');
    expect(await store.isTrusted('/p/a.json', 'h1')).toBe(true);
    expect(await store.isTrusted('/p/a.json', 'h2')).toBe(false);
    expect(await store.isTrusted('/q/a.json', 'h1')).toBe(false);
    expect([...(await new TrustStore(join(folder, 'state')).list())]).toEqual([['/p/a.json', 'h1']]);
  });

  it('forgets on request and says whether there was anything to forget', async () => {
    const store = new TrustStore(folder);
    await store.trust('/p', 'h');
    expect(await store.revoke('/p')).toBe(true);
    expect(await store.revoke('/p')).toBe(false);
    expect(await store.isTrusted('/p', 'h')).toBe(false);
  });

  it('treats __proto__ as a path like any other', async () => {
    const store = new TrustStore(folder);
    expect(await store.isTrusted('__proto__', 'h')).toBe(false);
    await store.trust('__proto__', 'h');
    expect(await store.isTrusted('__proto__', 'h')).toBe(true);
  });

  it('trusts a folder and those inside it by their real paths, and forgets it on request', async () => {
    const store = new TrustStore(join(folder, 'state'));
    const [app, sub, beside] = ['app', 'app/sub', 'app-beside'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(sub, { recursive: true });
    await mkdir(beside);
    await symlink(app, join(beside, 'link'), 'junction');
    await symlink(beside, join(app, 'out'), 'junction');
    expect(await store.isTrustedFolder(app)).toBe(false);
    await store.trustFolder(join(beside, 'link'));
    expect(await store.isTrustedFolder(app)).toBe(true);
    expect(await store.isTrustedFolder(`${sub}/`)).toBe(true);
    expect(await store.isTrustedFolder(beside)).toBe(false);
    expect(await store.isTrustedFolder(folder)).toBe(false);
    // A link inside a trusted folder counts as its target, which lies outside.
    expect(await store.isTrustedFolder(join(app, 'out'))).toBe(false);
    expect(await store.isTrustedFolder(join(app, 'missing'))).toBe(false);
    expect(await new TrustStore(join(folder, 'state')).listFolders()).toEqual([await realpath(app)]);
    expect(await store.revokeInside(sub)).toEqual({ files: [], folders: [] });
    expect(await store.revokeInside(app)).toEqual({ files: [], folders: [await realpath(app)] });
    expect(await store.isTrustedFolder(sub)).toBe(false);
  });

  it('does not treat a repository inside a trusted folder as part of it', async () => {
    const store = new TrustStore(join(folder, 'state'));
    const clone = join(folder, 'work', 'clone');
    await mkdir(join(clone, 'src'), { recursive: true });
    await store.trustFolder(join(folder, 'work'));
    expect(await store.isTrustedFolder(join(clone, 'src'))).toBe(true);
    await mkdir(join(clone, '.git'));
    expect(await store.isTrustedFolder(join(clone, 'src'))).toBe(false);
    expect(await store.isTrustedFolder(clone)).toBe(false);
    await store.trustFolder(clone);
    expect(await store.isTrustedFolder(join(clone, 'src'))).toBe(true);
  });

  it('forgets everything in a folder, also files that are not there at the moment', async () => {
    const store = new TrustStore(join(folder, 'state'));
    const app = join(folder, 'app');
    await mkdir(app);
    await store.trust(join(app, '.mcp.json'), 'h');
    await store.trust(join(folder, 'beside.json'), 'h');
    await store.trustFolder(app);
    await rm(app, { recursive: true });
    expect(await store.revokeInside(app)).toEqual({ files: [join(app, '.mcp.json')], folders: [app] });
    expect([...(await store.list()).keys()]).toEqual([join(folder, 'beside.json')]);
  });

  it('keeps trusted files and folders apart, and reads a file from before folders could be trusted', async () => {
    const store = new TrustStore(folder);
    await writeFile(store.file, JSON.stringify({ version: 1, trusted: { [folder]: 'h' } }));
    expect(await store.isTrustedFolder(folder)).toBe(false);
    await store.trustFolder(folder);
    await store.trust('/p', 'h');
    expect([...(await store.list()).keys()]).toEqual([folder, '/p']);
    expect(await store.isTrustedFolder(folder)).toBe(true);
    await store.revoke(folder);
    expect(await store.isTrustedFolder(folder)).toBe(true);
    await rm(join(folder, 'gone'), { recursive: true, force: true });
    await mkdir(join(folder, 'gone'));
    await store.trustFolder(join(folder, 'gone'));
    await rm(join(folder, 'gone'), { recursive: true });
    const gone = join(await realpath(folder), 'gone');
    expect(await store.revokeInside(gone)).toEqual({ files: [], folders: [gone] });
    await expect(store.trustFolder(join(folder, 'gone'))).rejects.toThrow('ENOENT');
    for (const folders of ['x', [1], {}]) {
      await writeFile(store.file, JSON.stringify({ version: 1, trusted: {}, folders }));
      await expect(store.isTrustedFolder(folder)).rejects.toThrow(ConfigurationError);
    }
  });

  it('writes a file only its owner can read, and leaves nothing else behind', async () => {
    const store = new TrustStore(folder);
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.trust(`/p${index}`, 'h')));
    expect((await store.list()).size).toBe(20);
    expect(await readdir(folder)).toEqual(['trust.json']);
    if (process.platform !== 'win32') expect((await stat(store.file)).mode & 0o777).toBe(0o600);
  });

  it('keeps what several processes say at the same moment', async () => {
    const script = `
      const { createJiti } = await import('jiti');
      const { TrustStore } = await createJiti(process.argv[1], { fsCache: false }).import(process.argv[1]);
      const store = new TrustStore(process.argv[2]);
      while (Date.now() < Number(process.argv[4])) await new Promise((resolve) => setTimeout(resolve, 1));
      for (let i = 0; i < 8; i++) {
        await store.trust('/' + process.argv[3] + i, 'h');
        await store.revoke('/old-' + process.argv[3] + i);
      }`;
    const store = new TrustStore(folder);
    const ids = ['a', 'b', 'c', 'd'];
    const paths = (prefix: string) => ids.flatMap((id) => Array.from({ length: 8 }, (_, at) => `/${prefix}${id}${at}`));
    await writeFile(
      store.file,
      JSON.stringify({ version: 1, trusted: Object.fromEntries(paths('old-').map((path) => [path, 'h'])) }),
    );
    const source = join(import.meta.dirname, 'trust-store.ts');
    const start = `${Date.now() + 1500}`;
    await Promise.all(
      ids.map((id) =>
        promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, source, folder, id, start]),
      ),
    );
    expect([...(await store.list()).keys()].sort()).toEqual(paths('').sort());
    expect(await readdir(folder)).toEqual(['trust.json']);
  });

  it.each([
    ['garbage', '{{{'],
    ['an empty file', ''],
    ['another format', '{"version": 2, "trusted": {}}'],
    ['a list', '[]'],
    ['an entry without a hash', '{"version": 1, "trusted": {"/p": 5}}'],
  ])('refuses %s and never overwrites it', async (_, content) => {
    const store = new TrustStore(folder);
    await writeFile(store.file, content);
    await expect(store.isTrusted('/p', 'h')).rejects.toThrow(ConfigurationError);
    await expect(store.trust('/p', 'h')).rejects.toThrow(/cannot be read/);
    expect(await readFile(store.file, 'utf8')).toBe(content);
  });

  it('says so when the folder cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    const store = new TrustStore(join(folder, 'file', 'state'));
    await expect(store.trust('/p', 'h')).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
    const blocked = new TrustStore(folder);
    await mkdir(blocked.file);
    await expect(blocked.trust('/p', 'h')).rejects.toThrow(ConfigurationError);
    expect((await readdir(folder)).sort()).toEqual(['file', 'trust.json']);
  });
});

describe('what a hash covers', () => {
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
    return path;
  };
  const print = async (path: string) => {
    const world = realWorld({ home: join(folder, 'home'), cwd: folder, env: {} });
    return previewFile({ path, type: 'configuration', base: folder, root: folder }, world);
  };

  it('covers what code imports, extends and takes servers from, but not other files it names', async () => {
    const main = await write(
      'a.ts',
      `import { b } from './b'; import './c.ts'; // don't stop here
       export { x } from "./lib/index.js"; const d = await import('./d.mjs');
       export default { extends: ['./e.json', "./f.json"], sources: [{ type: 'custom', path: './g.yaml' }],
         servers: [{ name: 'x', connection: { type: 'stdio', command: 'node', args: ['./server.js'] } }] };`,
    );
    for (const name of ['b.ts', 'c.ts', 'lib/index.js', 'd.mjs', 'e.json', 'f.json', 'g.yaml', 'server.js', 'h.json']) {
      await write(name, '{}');
    }
    const { files } = await print(main);
    expect(files.map((file) => file.slice(folder.length + 1)).sort()).toEqual(
      ['a.ts', 'b.ts', 'c.ts', 'd.mjs', 'e.json', 'f.json', 'g.yaml', 'lib/index.js'].sort(),
    );
  });

  it('changes when a covered file changes, however far away, and only then', async () => {
    const main = await write(
      'a.json',
      '{"discovery": {"extends": "./b.yaml", "sources": [{"type": "custom", "path": "./s.json"}]}}',
    );
    await write('b.yaml', 'extends: [./c.json]');
    await write('c.json', '{}');
    await write('s.json', '{}');
    const before = await print(main);
    expect(before.files).toHaveLength(4);
    await write('unrelated.json', '{}');
    expect((await print(main)).hash).toBe(before.hash);
    await write('c.json', '{"servers": []}');
    const after = await print(main);
    expect(after.hash).not.toBe(before.hash);
    await write('s.json', '{"servers": []}');
    expect((await print(main)).hash).not.toBe(after.hash);
  });

  it('finds sources of .anygpt/ files beside that folder', async () => {
    const main = await write(
      '.anygpt/mcp-discovery.config.json',
      '{"sources": [{"type": "custom", "path": "./s.yaml"}]}',
    );
    await write('s.yaml', 'servers: {}');
    expect((await print(main)).files).toContain(join(folder, 's.yaml'));
  });

  it('does not mind circles, folders, broken files and endless strings', async () => {
    const main = await write('a.json', '{"extends": ["./a.json", "./b.json", "./sub", "./nope.json"]}');
    await write('b.json', '{{{');
    await mkdir(join(folder, 'sub'));
    expect((await print(main)).files).toHaveLength(2);
    const code = await write('c.ts', `import '${'x'.repeat(100_000)}`);
    expect((await print(code)).files).toHaveLength(1);
  });

  it('is nothing where there are more than 64 files, or a file that is too large', async () => {
    for (let index = 0; index < 80; index++) await write(`f${index}.ts`, `import './f${index + 1}.ts';`);
    const { hash, notes } = await print(join(folder, 'f0.ts'));
    expect([hash, notes.join()]).toEqual([undefined, expect.stringContaining('More than 64 files')]);
    const large = await write('large.json', JSON.stringify({ servers: [], x: 'x'.repeat(300_000) }));
    expect(await print(large)).toMatchObject({ hash: undefined, notes: [expect.stringContaining('256 KiB')] });
  });
});
