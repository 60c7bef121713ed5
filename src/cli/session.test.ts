import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeIo } from '../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { main } from './main.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

/** A configuration with so many sources that are not there. */
const run = async (missing: number, ...argv: string[]) => {
  const home = join(folder.path, 'home');
  mkdirSync(home, { recursive: true });
  const sources = Array.from({ length: missing }, (_, at) => ({ type: 'custom', path: `./missing-${at}.json` }));
  writeFileSync(join(home, 'mcp-discovery.config.json'), JSON.stringify({ sources }));
  const io = fakeIo({ cwd: folder.path, env: { ANYGPT_HOME: home, HOME: folder.path } });
  const code = await main(['mcp', ...argv], io);
  return { code, out: io.out(), lines: io.err().split('\n').slice(0, -1) };
};

describe('notes about the configuration', () => {
  it('are said when they are few', async () => {
    const { code, lines } = await run(2, 'list');
    expect(code).toBe(0);
    expect(lines).toEqual([expect.stringContaining('missing-0.json'), expect.stringContaining('missing-1.json')]);
  });

  it.each([[['list']], [['list', '--json']], [['search', 'x']], [['config', 'show']]])(
    'are counted after the first three when they would drown the result of %j',
    async (argv) => {
      for (let time = 0; time < 2; time++) {
        const { lines } = await run(12, ...argv);
        expect(lines.filter((line) => line.includes('missing-'))).toHaveLength(3);
        expect(lines).toContain('anygpt: 9 more notes about the configuration: anygpt mcp config validate');
      }
    },
  );

  it.each([[['config', 'validate']], [['config', 'sources']]])('are all said by %j', async (argv) => {
    const { out, lines } = await run(12, ...argv);
    const said = `${out}\n${lines.join('\n')}`;
    for (let at = 0; at < 12; at++) expect(said).toContain(`missing-${at}.json`);
  });

  it('break between words where the terminal is narrow', async () => {
    const io = fakeIo({ cwd: folder.path, env: { HOME: folder.path } });
    Object.assign(io.stderr, { isTTY: true, columns: 30 });
    expect(await main(['mcp', 'install'], io)).toBe(1);
    for (const line of io.err().trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(30);
    expect(io.err().replaceAll('\n', ' ')).toContain('anygpt: ');
  });
});
