import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { ConfigurationLoader } from './configuration-loader.ts';
import { findCandidates, projectFolders } from './find-config.ts';
import { findClients } from './found-clients.ts';
import type { World } from './world.ts';

let root: string;
let real: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'anygpt-home-')));
  real = join(root, 'real');
  mkdirSync(join(real, 'work'), { recursive: true });
  symlinkSync(real, join(root, 'link'));
  for (const [path, entries] of [
    ['.anygpt/mcp-discovery.config.json', { sources: [{ type: 'cursor' }] }],
    ['.cursor/mcp.json', { mcpServers: { a: { command: 'x' } } }],
  ] as const) {
    mkdirSync(dirname(join(real, path)), { recursive: true });
    writeFileSync(join(real, path), JSON.stringify(entries));
  }
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const worldOf = (home: string, cwd: string): World => ({ home, cwd, env: {}, platform: 'linux' });

describe('the home folder', () => {
  // The system gives the working folder without links; the environment gives the home folder as the user wrote it.
  it.each([
    ['link', 'real'],
    ['real/', 'real'],
    ['link/', 'real'],
    ['real', 'link'],
    ['link', 'real/work'],
    ['real/../link', 'real/work'],
  ])('%s is known as such from %s', async (home, cwd) => {
    const world = worldOf(`${root}/${home}`, join(root, cwd));
    expect(findCandidates(world).map(({ place }) => place)).toEqual(['home']);
    expect(projectFolders(world).folders).toHaveLength(1);
    const found = await findClients(world);
    expect(found.flatMap(({ files }) => files.map(({ scope }) => scope))).toEqual(['user']);
    const config = await new ConfigurationLoader(world).load();
    expect(config.servers.map(({ name }) => name)).toEqual(['a']);
    expect(config.warnings).toEqual([]);
  });

  it('on Windows is the same however its letters are written', () => {
    const world = { ...worldOf(join(root, 'REAL'), join(root, 'real', 'work')), platform: 'win32' } as const;
    mkdirSync(join(root, 'REAL'), { recursive: true });
    expect(projectFolders(world).folders).toEqual([join(root, 'real', 'work')]);
    expect(projectFolders({ ...world, platform: 'linux' }).folders.length).toBeGreaterThan(1);
  });

  it('that is not there is no folder of a project', () => {
    const world = worldOf(join(root, 'gone'), join(real, 'work'));
    expect(projectFolders(world).folders).toContain(join(real, 'work'));
  });

  it('belongs to the user also where a project links to it, and nothing else in that project does', () => {
    const project = join(root, 'project');
    mkdirSync(join(project, '.git'), { recursive: true });
    symlinkSync(join(real, '.anygpt'), join(project, '.anygpt'));
    const [first] = findCandidates(worldOf(join(root, 'link'), project));
    expect(first?.place).toBe('home');
    writeFileSync(join(project, 'anygpt.config.json'), '{}');
    const places = findCandidates(worldOf(join(root, 'link'), project)).map(({ place }) => place);
    expect(places).toEqual(['project', 'home']);
  });
});

describe('the parents of a folder', () => {
  it('are those up to the repository or the home folder, whatever links lead there', () => {
    const slow = ({ home, cwd }: World): string[] => {
      const found: string[] = [];
      for (let folder = cwd; ; folder = dirname(folder)) {
        if (found.length > 0 && realpathSync(folder) === realpathSync(home)) return found;
        found.push(folder);
        if (existsSync(join(folder, '.git')) || dirname(folder) === folder) return found;
      }
    };
    const deep = join(real, 'work', 'a', 'work');
    mkdirSync(join(deep, 'b'), { recursive: true });
    mkdirSync(join(root, 'else', 'work', '.git'), { recursive: true });
    mkdirSync(join(root, 'else', 'a'), { recursive: true });
    symlinkSync(deep, join(root, 'else', 'a', 'work'));
    symlinkSync(join(root, 'else', 'work'), join(real, 'work', 'else'));
    for (const cwd of ['real/work/a/work/b', 'else/a/work/b', 'link/work/a/work', 'real/work/else', 'else/a'])
      for (const home of ['real', 'link', 'else', 'real/work/a']) {
        const world = worldOf(join(root, home), join(root, cwd));
        expect(projectFolders(world).folders, `${cwd} of ${home}`).toEqual(slow(world));
      }
  });

  it('are looked at up to a limit, and the rest is said to be left out', async () => {
    const top = join(root, 'deep');
    mkdirSync(join(top, '.git'), { recursive: true });
    writeFileSync(join(top, '.mcp.json'), '{"mcpServers":{"a":{"command":"x"}}}');
    const within = join(top, ...Array.from({ length: LIMITS.files.parents - 1 }, () => 'a'));
    mkdirSync(join(within, 'a'), { recursive: true });
    const loaded = (cwd: string) => new ConfigurationLoader({ ...worldOf(root, cwd), trustProject: true }).load();
    expect(projectFolders(worldOf(real, within)).repository).toBe(top);
    expect((await loaded(within)).warnings.join()).not.toContain('folders deep');
    expect(projectFolders(worldOf(real, join(within, 'a')))).toMatchObject({ repository: undefined, isCut: true });
    expect((await loaded(join(within, 'a'))).warnings.join()).toContain('lies more than 64 folders deep');
  });
});
