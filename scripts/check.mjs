// Runs `npm run check`: everything a change must pass, locally and in CI. `--without a,b` skips steps.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (path) => `${root}node_modules/${path}`;
const node = (...args) => {
  const { status, signal } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0 || `exit ${status ?? signal}`;
};

/** Three pages are generated from the source; the committed ones must be equal. */
const docs = () => {
  const pages = ['configuration', 'command-line', 'api'].map((page) => node(`scripts/${page}-page.mjs`, '--check'));
  return pages.find((done) => done !== true) ?? true;
};

/** Lists long files for reviewers. Never fails: a coherent file is not split to please a count. */
const sizes = () => {
  const lines = (name) => readFileSync(`${root}src/${name}`, 'utf8').split('\n').length - 1;
  const long = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && lines(name) > 300)
    .map((name) => `${lines(name)} src/${name}`);
  if (long.length > 0)
    console.error(`warning: over 300 lines, look for the noun that wants to move out:\n${long.join('\n')}`);
  return true;
};

const STEPS = {
  types: () => node(bin('typescript/bin/tsc'), '-p', 'tsconfig.json', '--noEmit'),
  sizes,
  lint: () => node(bin('@biomejs/biome/bin/biome'), 'check', '.'),
  build: () => node('scripts/build.mjs'),
  tests: () => node(bin('vitest/vitest.mjs'), 'run', '--coverage'),
  publint: () => node(bin('publint/src/cli.js'), '--strict'),
  attw: () =>
    node(bin('@arethetypeswrong/cli/dist/index.js'), '--pack', '.', '--profile', 'esm-only', '--format', 'ascii'),
  docs,
  // Runs the examples too, from the installed package.
  package: () => node('scripts/try-package.mjs'),
};

const left = process.argv.indexOf('--without');
const without = new Set(left === -1 ? [] : process.argv[left + 1]?.split(','));
const results = [];
for (const [name, run] of Object.entries(STEPS)) {
  if (without.has(name)) continue;
  console.error(`\n== ${name}`);
  const start = performance.now();
  const outcome = await run();
  results.push({ name, outcome, seconds: ((performance.now() - start) / 1000).toFixed(1) });
}
console.error();
for (const { name, outcome, seconds } of results)
  console.error(
    `${outcome === true ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)${outcome === true ? '' : `: ${outcome}`}`,
  );
process.exitCode = results.every(({ outcome }) => outcome === true) ? 0 : 1;
