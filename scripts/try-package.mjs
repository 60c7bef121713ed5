// Packs the package, installs the tarball into an empty folder without development dependencies, and uses it: the
// commands, npx, the entry points and the examples. Needs the build, and npm's cache or registry.
//
//   node scripts/try-package.mjs
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'package-')));
const home = join(folder, 'home');
const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
const shell = process.platform === 'win32';

/** Runs a command in the empty folder, with its own home, and returns its output. */
const run = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options });
const ours = { ...process.env, ANYGPT_HOME: home, DATABASE_URL: '', PORT: '0' };

/** Examples that need a further package: SQLite, where Node does not have it yet. */
const needsMore = isBuiltin('node:sqlite') ? [] : ['04-database-tools.mjs'];

try {
  const packed = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], { cwd: root, shell });
  const [{ filename, files, size, unpackedSize }] = JSON.parse(packed);
  const inMB = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(`${filename}: ${files.length} files, ${inMB(size)}, ${inMB(unpackedSize)} unpacked`);
  const stray = files
    .map(({ path }) => path)
    .filter((path) => /\.test\.|\.map$|^(?:src|test|bench|training|scripts)\//.test(path));
  assert.deepEqual(stray, [], 'nothing of the development is packed');

  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  run('npm', ['install', '--omit=dev', ...quiet, join(folder, filename)], { shell });
  const installed = join(folder, 'node_modules/@anygpt/discovery');
  const { version, exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));

  // The commands, as npm links them. npx finds the bin that is called like the package.
  const bin = join(folder, 'node_modules/.bin/anygpt');
  const anygpt = (...args) => run(bin, args, { env: ours, shell });
  assert.match(anygpt('--version'), new RegExp(version.replaceAll('.', '\\.')));
  // npx takes the path of an existing file for a program; as an address it is a package.
  const npx = ['--yes', ...quiet, `file:${join(folder, filename)}`, '--version'];
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  assert.match(run('npx', npx, { cwd: elsewhere, env: ours, shell }), new RegExp(version.replaceAll('.', '\\.')));

  // A search starts a server that comes with the package.
  const config = join(folder, 'config.json');
  const args = [join(installed, 'examples/servers/notes.mjs')];
  const servers = [{ name: 'notes', connection: { type: 'stdio', command: process.execPath, args } }];
  writeFileSync(config, JSON.stringify({ discovery: { servers } }));
  const found = JSON.parse(anygpt('mcp', 'search', 'write down a note', '--config', config, '--json'));
  assert.equal(found.results[0].server, 'notes');

  // Every entry point can be imported; every example runs from where npm put it.
  const entries = Object.keys(exports).filter((name) => !name.endsWith('.json'));
  const imports = entries.map((name) => `await import('@anygpt/discovery${name.slice(1)}');`);
  run(process.execPath, ['--input-type=module', '--eval', imports.join('')]);
  const examples = readdirSync(join(installed, 'examples')).filter((name) => /^\d+-.*\.mjs$/.test(name));
  for (const name of examples.filter((name) => !needsMore.includes(name)))
    assert.notEqual(run(process.execPath, [join(installed, 'examples', name)], { env: ours }), '', name);
  console.log(`installed ${version}: anygpt, npx, ${entries.length} entry points and the examples work`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
