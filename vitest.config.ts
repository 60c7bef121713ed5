import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['test/property-seed.ts'],
    reporters: ['default', './test/requirements-reporter.ts'],
    // Most files wait for processes and timeouts two thirds of their time, so two cores have work for four workers.
    maxWorkers: availableParallelism() + 2,
    testTimeout: 60_000,
    hookTimeout: 30_000,
    // The default of one second is too short for a loaded machine.
    expect: { poll: { timeout: 10_000 } },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'json-summary', 'text'],
      thresholds: { lines: 90 },
    },
  },
});
