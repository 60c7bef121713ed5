/** The release script in a repository of its own: what it prints, changes, commits and tags. It never publishes here. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

let folder: string;
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const git = (...args: string[]): string => spawnSync('git', args, { cwd: folder, encoding: 'utf8' }).stdout.trim();
const release = (...args: string[]) => {
  const done = spawnSync(process.execPath, [join(root, 'scripts/release.mjs'), ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { code: done.status, text: done.stdout + done.stderr };
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-'));
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const scripts = { check: 'node -e "process.exit(Number(process.env.CHECK_FAILS ?? 0))"' };
  write('package.json', JSON.stringify({ name: 'x', version: '1.2.3', scripts }, null, 2));
  write('package-lock.json', JSON.stringify({ version: '1.2.3', packages: { '': { version: '1.2.3' } } }));
  mkdirSync(join(folder, 'src/core'), { recursive: true });
  write('src/core/version.ts', "export const VERSION = '1.2.3';\n");
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.3\n');
  git('init', '--quiet');
  git('config', 'user.email', 'a@example.com');
  git('config', 'user.name', 'A');
  git('add', '.');
  git('commit', '--quiet', '--message', 'First');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a release', () => {
  it('with --dry-run prints every step and changes nothing', () => {
    const { code, text } = release('minor', '--dry-run');
    expect(code).toBe(0);
    for (const step of ['npm run check', '## 1.3.0 (2', 'git tag v1.3.0', 'npm publish --provenance'])
      expect(text).toContain(step);
    expect(git('status', '--porcelain')).toBe('');
    expect(git('tag')).toBe('');
  });

  it('sets the version in every file, dates the changelog, commits and tags', () => {
    expect(release('patch', '--no-publish').code).toBe(0);
    expect(JSON.parse(read('package.json')).version).toBe('1.2.4');
    expect(JSON.parse(read('package-lock.json'))).toEqual({ version: '1.2.4', packages: { '': { version: '1.2.4' } } });
    expect(read('src/core/version.ts')).toContain("'1.2.4'");
    expect(read('CHANGELOG.md')).toMatch(/\n## 1\.2\.4 \(\d{4}-\d\d-\d\d\)\n\n- New\./);
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '-1', '--format=%s')).toBe('Release 1.2.4');
    expect(git('tag')).toBe('v1.2.4');
  });

  it.each([
    ['an older version', ['1.2.0'], '1.2.0 does not come after 1.2.3'],
    ['the same version', ['1.2.3'], '1.2.3 does not come after 1.2.3'],
    ['no version', ['newest'], '"newest" is no version'],
    ['nothing', [], 'Usage:'],
    ['a package without a repository', ['2.0.0'], 'names no "repository"'],
  ])('of %s is refused', (_, args, reason) => {
    const { code, text } = release(...args);
    expect(code).toBe(1);
    expect(text).toContain(reason);
    expect(git('tag')).toBe('');
  });

  it('is refused while the tree has changes, or the changelog has nothing unreleased', () => {
    writeFileSync(join(folder, 'new.txt'), '');
    expect(release('patch', '--no-publish').text).toContain('the tree is not clean');
    rmSync(join(folder, 'new.txt'));
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n');
    git('commit', '--all', '--quiet', '--message', 'Second');
    expect(release('patch', '--no-publish').text).toContain('CHANGELOG.md: expected');
    expect(git('tag')).toBe('');
  });

  it('changes nothing where the check fails', () => {
    process.env.CHECK_FAILS = '1';
    try {
      expect(release('patch', '--no-publish')).toMatchObject({ code: 1 });
    } finally {
      delete process.env.CHECK_FAILS;
    }
    expect(git('status', '--porcelain')).toBe('');
    expect(git('tag')).toBe('');
  });
});
