/** Checks the pages against the program: links, anchors, error codes, configurations and commands. Uses the build. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { limitsSchema } from '../src/config/settings-schema.ts';
import { ERROR_CODES } from '../src/core/errors.ts';
import { root, runBinary } from './fixtures/cli.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: folder !== '', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const pages = ['', 'docs', 'examples', 'models', 'training'].flatMap(pagesIn);

/** A page without its code, in which brackets are no links and # is no heading. */
const prose = (page: string): string => read(page).replace(/^(`{3,}).*?^\1$/gms, '');

/** The anchors of a page as GitHub makes them. */
const anchorsOf = (page: string): Set<string> => {
  const seen = new Map<string, number>();
  const headings = [...prose(page).matchAll(/^#{1,6} (.*)$/gm)].map(([, text = '']) =>
    text
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(
    headings.map((anchor) => {
      const count = seen.get(anchor) ?? 0;
      seen.set(anchor, count + 1);
      return count === 0 ? anchor : `${anchor}-${count}`;
    }),
  );
};

/** Links to files of this repository, from where they stand. */
const linksOf = (page: string) =>
  [
    ...prose(page)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/i.test(link))
    .map((link) => {
      const [path = '', anchor] = link.split('#');
      return { link, anchor, file: path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path))) };
    });

describe('links', () => {
  it.each(pages)('of %s lead to files and headings that exist', (page) => {
    const broken = linksOf(page).filter(({ file, anchor }) => {
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && (statSync(join(root, file)).isDirectory() || !anchorsOf(file).has(anchor));
    });
    expect(broken.map(({ link }) => link)).toEqual([]);
  });

  it('of README.md lead to files that npm packs', () => {
    const { files }: { files: string[] } = JSON.parse(read('package.json'));
    const packed = (file: string) => files.some((entry) => file === entry || file.startsWith(`${entry}/`));
    expect(linksOf('README.md').filter(({ file }) => !packed(file))).toEqual([]);
  });

  it('reach every page of docs/ from README.md', () => {
    const reached = new Set(['README.md']);
    for (const page of reached)
      for (const { file } of linksOf(page)) if (file.startsWith('docs/') && file.endsWith('.md')) reached.add(file);
    expect(pagesIn('docs').filter((page) => !reached.has(page))).toEqual([]);
  });
});

describe('names of files', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((path) => `/src/${path}`);
  const exists = (path: string) =>
    existsSync(join(root, path)) || sources.some((source) => source.endsWith(`/${path.replace(/\/$/, '')}`));

  it.each(['docs/design.md', 'docs/search.md', 'CONTRIBUTING.md'])('in %s are those of the tree', (page) => {
    const named = [...read(page).matchAll(/`([a-z-]+(?:\/[a-z-]+)*(?:\.ts|\/))`/g)].map(([, path = '']) => path);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });
});

describe('docs/troubleshooting.md', () => {
  it('explains every error code, in the order of the list', () => {
    const [, section = ''] = read('docs/troubleshooting.md').split('\n## By error code\n');
    const codes = [...section.matchAll(/^### ([A-Z_]+)$/gm)].map(([, code]) => code);
    expect(codes).toEqual([...ERROR_CODES]);
  });
});

describe('README.md', () => {
  it('is short enough to be read', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(130);
  });
});

describe('commands and configurations', () => {
  const home = mkdtempSync(join(tmpdir(), 'docs-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const configurations = ['README.md', ...pagesIn('docs')].flatMap((page) =>
    [...read(page).matchAll(/^```json\n(.*?)^```$/gms)]
      .map(([, text = '']) => ({ page, text }))
      .filter(({ text }) => 'discovery' in JSON.parse(text)),
  );

  it.each(configurations)('of $page: the configuration can be used', async ({ text }) => {
    const file = join(home, 'config.json');
    writeFileSync(file, text);
    const { code, err } = await runBinary(['config', 'validate', '--config', file], { cwd: home, env: {} });
    expect(code, err).toBe(0);
  });

  it('of docs/recipes/own-server.md run', async () => {
    const page = read('docs/recipes/own-server.md');
    const [, config = ''] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
    const [, commands = ''] = /^```console\n(.*?)^```$/ms.exec(page) ?? [];
    const file = join(home, 'notes.json');
    writeFileSync(file, config.replace('"cwd": "."', `"cwd": ${JSON.stringify(root)}`));
    const lines = commands.trim().split('\n');
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const words = [...line.replace('$ anygpt mcp ', '').matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) =>
        word.replaceAll('"', ''),
      );
      const argv = words.map((word) => (word === 'notes.json' ? file : word));
      const { code, err } = await runBinary(argv, { cwd: home, env: {} });
      expect(code, `${line}\n${err}`).toBe(0);
    }
  }, 60_000);
});

describe('the generated pages', () => {
  it.each(['configuration', 'command-line'])('docs/%s.md is what its script writes', (page) => {
    const check = spawnSync(process.execPath, [join(root, `scripts/${page}-page.mjs`), '--check'], {
      encoding: 'utf8',
    });
    expect(check).toMatchObject({ status: 0, stderr: '' });
  });

  it('docs/configuration.md has a row for every limit', () => {
    for (const key of Object.keys(limitsSchema.shape))
      expect(read('docs/configuration.md')).toContain(`| \`${key}\` |`);
  });
});
