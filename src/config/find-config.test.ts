import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
