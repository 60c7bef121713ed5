// Compiles src/ to dist/ with plain tsc; dist mirrors src.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
rmSync(join(root, 'dist'), { recursive: true, force: true });
const done = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (done.status !== 0) process.exit(done.status ?? 1);
for (const bin of ['bin.js', 'bin-discovery.js']) {
  const path = join(root, 'dist/cli', bin);
  if (existsSync(path)) chmodSync(path, 0o755);
}
writeFileSync(join(root, 'dist', '.built'), '');
