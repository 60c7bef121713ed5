// Runs the property tests once more with a new random seed, and prints it. PROPERTY_SEED repeats one.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = ['src', 'test']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)))
  .filter((path) => path.endsWith('.test.ts') && readFileSync(join(root, path), 'utf8').includes("'fast-check'"));

const seed = process.env.PROPERTY_SEED ?? String(randomInt(2 ** 31));
const again = `PROPERTY_SEED=${seed} npm run test:fresh`;
console.log(`property tests with seed ${seed} (to repeat: ${again})`);
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PROPERTY_SEED: seed },
});
if (status !== 0) console.error(`a property test failed with seed ${seed}; to repeat: ${again}`);
process.exitCode = status ?? 1;
