/**
 * Fails a run of the tests in which a promise of the specification was not proven: its test was commented out, renamed,
 * failed or, in CI, skipped. Runs of some files check the promises proven there.
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { REQUIREMENTS } from './requirements.ts';
import { type RanTest, unproven } from './unproven.ts';

export default class RequirementsReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const { config } = this.#vitest ?? {};
    // With a pattern for names most tests are left out on purpose.
    if (config === undefined || config.testNamePattern !== undefined) return;
    const tests = modules.flatMap((module) => {
      const file = module.relativeModuleId;
      return [...module.children.allTests()].map(
        (test): RanTest => ({ file, name: test.name, state: test.result().state }),
      );
    });
    const problems = unproven(REQUIREMENTS, tests, (file) => existsSync(join(config.root, file)), !process.env.CI);
    if (problems.length === 0) return;
    this.#vitest?.logger.error(`Promises of test/requirements.ts that were not proven:\n  ${problems.join('\n  ')}`);
    process.exitCode = 1;
  }
}
