// Unpacks the official JSON Schema test suite into .json-schema-suite/, from the Debian package that contains it. The
// suite cannot be installed from npm without GitHub, and it is third-party work, so it is not in this repository.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'libtest-json-schema-acceptance-perl';
const INSIDE = 'usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests';
const target = fileURLToPath(new URL('../.json-schema-suite', import.meta.url));
if (existsSync(target)) process.exit(0);

const folder = mkdtempSync(join(tmpdir(), 'json-schema-suite-'));
const run = (command, ...args) =>
  spawnSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 2] }).status === 0;
try {
  const got =
    run('apt-get', 'download', PACKAGE) || (run('apt-get', 'update', '-qq') && run('apt-get', 'download', PACKAGE));
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  if (!got || archive === undefined || !run('dpkg-deb', '-x', archive, 'unpacked')) {
    throw new Error(
      `${PACKAGE} could not be had from Debian; name a copy of the suite in JSON_SCHEMA_TEST_SUITE instead`,
    );
  }
  cpSync(join(folder, 'unpacked', INSIDE), target, { recursive: true });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
