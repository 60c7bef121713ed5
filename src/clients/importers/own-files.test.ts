import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { World } from '../../config/world.ts';
import { type ClientType, clientOf } from './clients.ts';
import { namedFile } from './import-file.ts';
import { ownScope } from './own-files.ts';

let world: World;
beforeAll(() => {
  const home = mkdtempSync(join(tmpdir(), 'anygpt-own-'));
  world = { home, cwd: join(home, 'work'), env: {}, platform: 'linux' };
  mkdirSync(join(home, '.cursor'));
  mkdirSync(join(home, 'work'));
});
afterAll(() => rmSync(world.home, { recursive: true, force: true }));

const scope = (type: ClientType, path: string, here = world) => ownScope(clientOf(type), path, here);

it('a file is the user’s own where the client looks for that, and so is the copy kept of it', () => {
  const file = join(world.home, '.cursor', 'mcp.json');
  expect([file, `${file}.anygpt-taken-over`, `${file}.anygpt-backup`].map((path) => scope('cursor', path))).toEqual([
    'user',
    'user',
    'user',
  ]);
  expect(scope('claude-code', '/etc/claude-code/managed-mcp.json')).toBe('system');
  expect(scope('kiro', join(world.home, '.kiro', 'agents', 'mine.json'))).toBe('user');
  expect(scope('continue', join(world.home, '.continue', 'mcpServers', 'anygpt.yaml'))).toBe('user');
});

it('any other is not, whatever it is called', () => {
  for (const path of ['work/.cursor/mcp.json', '.cursor/mcp.json.bak', 'work/.kiro/agents/x.json'])
    expect(scope(path.includes('kiro') ? 'kiro' : 'cursor', join(world.home, path))).toBeUndefined();
  expect(scope('kiro', join(world.home, '.kiro', 'agents', 'deep', 'x.json'))).toBeUndefined();
});

it('home may be a link, a link to home does not count as home, and on Windows letters may be of any case', () => {
  const link = `${world.home}-link`;
  symlinkSync(world.home, link);
  mkdirSync(join(world.home, '.cursor'), { recursive: true });
  expect(scope('cursor', join(realpathSync(world.home), '.cursor', 'mcp.json'), { ...world, home: link })).toBe('user');
  // Another user may redirect the link between two checks.
  expect(scope('cursor', join(link, '.cursor', 'mcp.json'))).toBeUndefined();
  rmSync(link);
  const file = join(world.home.toUpperCase(), '.cursor', 'MCP.json');
  expect(scope('cursor', file)).toBeUndefined();
  expect(scope('cursor', file, { ...world, platform: 'win32' })).toBe('user');
});

it('only a project’s file has a project', () => {
  expect(namedFile('cursor', join(world.home, '.cursor', 'mcp.json'), world)).toMatchObject({
    scope: 'user',
    root: undefined,
  });
  expect(namedFile('cursor', join(world.cwd, '.cursor', 'mcp.json.anygpt-taken-over'), world)).toMatchObject({
    scope: undefined,
    root: world.cwd,
  });
});
