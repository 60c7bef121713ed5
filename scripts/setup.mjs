// Makes a fresh clone runnable: installs what the lock file names and builds what is out of date.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (command, args) => {
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (done.status !== 0) process.exit(done.status ?? 1);
};

const lock = join(root, 'package-lock.json');
const marker = join(root, 'node_modules', '.installed-lock');
const installed = existsSync(marker) && readFileSync(marker, 'utf8') === readFileSync(lock, 'utf8');
if (!installed) {
  console.error('checking the dependencies (first run only) …');
  // Not `npm ci`: it would delete and install everything again.
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(marker, readFileSync(lock, 'utf8'));
}

const newest = (folder) =>
  readdirSync(folder, { withFileTypes: true }).reduce((latest, entry) => {
    const path = join(folder, entry.name);
    return Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }, 0);
const built = join(root, 'dist', '.built');
if (!existsSync(built) || statSync(built).mtimeMs < newest(join(root, 'src'))) {
  console.error('building …');
  run('node', ['scripts/build.mjs']);
}
