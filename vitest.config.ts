import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** What a test does that other files in its process would notice: it fakes time, or changes or measures the process. */
const NEEDS_A_PROCESS =
  /\bvi\.|\bpassMinute\(|\bprocessorShare\b|\bprocess\.(?:memoryUsage|on|once|env\.\w+ =)|\bgc\(|\bheapUsed\b|\bgetHeapSpaceStatistics\b/;

const tests = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join(folder, path).replaceAll('\\', '/')),
);
const alone = tests.filter((path) => NEEDS_A_PROCESS.test(readFileSync(join(import.meta.dirname, path), 'utf8')));

/** The folder for temporary files: in memory, where that has room and may run programs, because tests sync many files. */
function temporaryFolder(): string {
  const memory = '/dev/shm';
  try {
    const [, , , options = 'noexec'] =
      /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8'))?.[0].split(' ') ?? [];
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > 4 * 2 ** 30 && !options.includes('noexec') ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

export default defineConfig({
  test: {
    setupFiles: ['test/property-seed.ts', 'test/remove-folders.ts'],
    reporters: ['default', './test/requirements-reporter.ts'],
    // Most files wait for processes and timeouts two thirds of their time, so two cores have work for four workers.
    maxWorkers: availableParallelism() + 2,
    testTimeout: 60_000,
    hookTimeout: 30_000,
    // CI's machine is shared: what fails there once and then passes is shown as repeated, and fails on a machine of one's own.
    retry: process.env.CI ? 1 : 0,
    // The default of one second is too short for a loaded machine.
    expect: { poll: { timeout: 10_000 } },
    env: { TMPDIR: temporaryFolder() },
    projects: [
      // Importing the sources anew for each file would take a quarter of the processor time of a run.
      {
        extends: true,
        test: { name: 'shared', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: alone, isolate: false },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'json-summary', 'text'],
      thresholds: { lines: 90 },
    },
  },
});
