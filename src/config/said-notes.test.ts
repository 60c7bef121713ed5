import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBinary } from '../../test/fixtures/cli.ts';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { notesToSay } from './said-notes.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

const server = { name: 'a' } as never;
type Config = Parameters<typeof notesToSay>[0];
type Telling = Parameters<typeof notesToSay>[1];
const say = (
  warnings: string[],
  { whole = false, toPerson = true, cwd = '/w', ...more }: Partial<Config & Telling> = {},
) =>
  notesToSay(
    { warnings, sources: [], servers: [server], origin: '/c.json', home: folder.path, ...more },
    { whole, toPerson, cwd },
  );
const SUMMARY = 'about the configuration: anygpt mcp config validate';

describe('a note about the configuration', () => {
  it('is said in full once, and again when it changes', async () => {
    expect(await say(['a', 'b'])).toEqual(['a', 'b']);
    expect(await say(['a', 'b'])).toEqual([]);
    expect(await say(['a', 'c'])).toEqual(['c']);
    expect(await say([])).toEqual([]);
  });

  it('is said again when it comes back, and in another folder', async () => {
    await say(['a', 'b']);
    await say(['b']);
    expect(await say(['a', 'b'])).toEqual(['a']);
    expect(await say(['a'], { cwd: '/elsewhere' })).toEqual(['a']);
  });

  it('counts as said only when a person could read it', async () => {
    await say(['a'], { toPerson: false });
    expect(await say(['a'])).toEqual(['a']);
  });

  it('is said every time by commands about it, of what is broken, and where there are no servers', async () => {
    const sources = [{ type: 'cursor', path: '/x', status: 'error', message: 'is broken.', serverCount: 0 }] as never;
    for (let time = 0; time < 2; time++) {
      expect(await say(['a', 'b', 'c', 'd'], { whole: true })).toHaveLength(4);
      expect(await say(['Source cursor: is broken.'], { sources })).toEqual(['Source cursor: is broken.']);
      expect(await say(['a'], { servers: [] })).toEqual(['a']);
    }
  });

  it('is left out among too many until the user asks for them', async () => {
    for (let time = 0; time < 2; time++) expect(await say(['a', 'b', 'c', 'd'])).toEqual([`4 notes ${SUMMARY}`]);
  });

  it('is said again where nothing can be remembered', async () => {
    writeFileSync(join(folder.path, 'said.json'), '[broken');
    expect(await say(['a'])).toEqual(['a']);
    expect(JSON.parse(readFileSync(join(folder.path, 'said.json'), 'utf8')).version).toBe(1);
    const home = join(folder.path, 'said.json', 'no-folder');
    for (let time = 0; time < 2; time++) expect(await say(['a'], { home })).toEqual(['a']);
  });
});

describe('the real binary', () => {
  it('says the notes on sources once, and all of them where they are asked for', async () => {
    const home = join(folder.path, 'home');
    mkdirSync(join(folder.path, '.cursor'), { recursive: true });
    mkdirSync(home);
    writeFileSync(
      join(folder.path, '.cursor', 'mcp.json'),
      '{"mcpServers":{"fine":{"command":"never-started"},"bad":{"x":1}}}',
    );
    writeFileSync(join(home, 'mcp-discovery.config.json'), '{"sources":[{"type":"cursor"}]}');
    const run = (...argv: string[]) => runBinary(argv, { cwd: folder.path, env: { ANYGPT_HOME: home } });
    expect((await run('list', '--json')).err).toContain('left out mcpServers["bad"]');
    expect((await run('list')).err).toContain('left out mcpServers["bad"]');
    for (const argv of [['list'], ['search', 'x', '--offline']]) {
      const { err } = await run(...argv);
      expect(err).not.toMatch(/left out|about the configuration/);
    }
    expect((await run('config', 'validate')).err).toContain('left out mcpServers["bad"]');
  });
});
