import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseData } from './parse-data.ts';

const BIN = fileURLToPath(new URL('../../dist/bin/anygpt.js', import.meta.url));
const MANY = 60_000;
const nested = (open: string, close = '') => `discovery: ${open.repeat(MANY)}1${close.repeat(MANY)}`;

describe('a text that nests without end is a mistake and not a crash', () => {
  it.each([
    ['a.yaml', nested('[')],
    ['a.yaml', nested('[', ']')],
    ['a.yaml', nested('{a: ', '}')],
    ['a.yaml', nested('[a: ')],
    ['a.yaml', `\n${'- '.repeat(MANY)}1`],
    ['a.yaml', `${'? '.repeat(MANY)}1`],
    ['a.yaml', `${': '.repeat(MANY)}1`],
    ['a.yaml', Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
    ['a.yaml', `a: "]]]]"\nb: ${'[ "]", '.repeat(MANY / 4)}`],
    ['a.json', '['.repeat(MANY)],
    ['a.json', '{"a":'.repeat(MANY)],
    ['a.toml', `a = ${'['.repeat(MANY)}`],
    ['a.toml', `a = ${'{a='.repeat(MANY)}`],
    ['a.toml', `${'a.'.repeat(MANY)}a = 1`],
    ['a.toml', `[${'a.'.repeat(MANY)}a]`],
  ])('%s (%#)', async (path, text) => {
    await expect(parseData(path, text)).rejects.toThrow(/at most 200 levels|excessively nested/);
  });

  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'anygpt-deep-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('and the command says so and goes on', { timeout: 60_000 }, () => {
    for (const file of ['.continue/mcpServers/a.yaml', '.continue/mcpServers/b.yaml', 'anygpt.config.yaml']) {
      const path = join(root, 'project', file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `discovery: ${'['.repeat(100_000)}`);
    }
    const home = join(root, 'home');
    mkdirSync(home);
    const env = { PATH: process.env.PATH, HOME: home, USERPROFILE: home };
    const options = { cwd: join(root, 'project'), env, encoding: 'utf8' } as const;
    const ran = spawnSync(process.execPath, [BIN, 'mcp', 'trust', '--dry-run'], options);
    expect(ran.signal).toBeNull();
    expect(ran.stdout + ran.stderr).toContain('at most 200 levels');
  });
});

describe('YAML', () => {
  it('nests as deep as JSON does', async () => {
    const text = `a: ${'['.repeat(198)}1${']'.repeat(198)}\n`;
    await expect(parseData('a.yaml', text)).resolves.toHaveProperty('a');
    await expect(parseData('a.yaml', `a: &x\n  - *x\n`)).rejects.toThrow(/a\.yaml:1:1/);
  });

  it('refuses a key that is written twice, with its place, and takes no time for many', async () => {
    await expect(parseData('a.yaml', 'x: 1\nb:\n  c: 1\n  "c": 2\n')).rejects.toThrow(
      'a.yaml:4:3 is not valid YAML: Map keys must be unique.',
    );
    const started = process.cpuUsage();
    const keys = Array.from({ length: 20_000 }, (_, at) => `key${at}: 1\n`).join('');
    await expect(parseData('a.yaml', keys)).resolves.toHaveProperty('key19999', 1);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(5_000);
  });
});
