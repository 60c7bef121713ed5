/** Compiles the code of README.md, docs/library.md and the recipes as a reader would paste it, imports and all. Uses the build. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

/** A strict program of somebody else. */
const OPTIONS = {
  target: 'ES2023',
  lib: ['ES2023', 'ESNext.Disposable', 'DOM'],
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
};

interface Snippet {
  readonly section: string;
  readonly code: string;
}

/** The code of a page with the headings it stands under. */
function snippetsOf(page: string): Snippet[] {
  return page.split(/^(?=#{1,6} )/m).flatMap((section) => {
    const [heading = ''] = section.split('\n');
    return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => ({ section: heading, code }));
  });
}

/** What stands alone has imports; code without any goes on where the code above it in its section ends. */
function programsOf(snippets: readonly Snippet[]): string[] {
  const programs: string[] = [];
  let section = '';
  for (const { section: here, code } of snippets) {
    if (here === section && !/^import /m.test(code)) programs.push(`${programs.pop()}\n${code}`);
    else programs.push(`// ${here}\n${code}`);
    section = here;
  }
  // Modules also where nothing is imported.
  return programs.map((code) => `${code}\nexport {};\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'library-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RECIPES = readdirSync(join(root, 'docs/recipes')).map((name) => `docs/recipes/${name}`);

it('README.md, docs/library.md and the recipes show programs that compile', async () => {
  const pages = ['README.md', 'docs/library.md', ...RECIPES].map((page) => readFileSync(join(root, page), 'utf8'));
  const programs = pages.flatMap((page) => programsOf(snippetsOf(page)));
  expect(programs.length).toBeGreaterThan(6);
  for (const [at, code] of programs.entries()) writeFileSync(join(folder, `program-${at}.ts`), code);
  mkdirSync(join(folder, 'node_modules/@anygpt'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules/@anygpt/discovery'));
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.')))
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['*.ts'] }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const said = await new Promise<string>((resolve) => {
    execFile(process.execPath, [tsc, '-p', folder], { cwd: folder }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  const problems = said.split('\n').flatMap((line) => {
    const [, at, row, message] = /^program-(\d+)\.ts\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
    if (at === undefined) return line.startsWith(' ') || line === '' ? [] : [line];
    return [`${message} in: ${programs[Number(at)]?.split('\n')[Number(row) - 1]}`];
  });
  expect(problems).toEqual([]);
}, 60_000);
