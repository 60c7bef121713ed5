/**
 * Compares the promises of the specification with the tests that ran: lists every promise whose proof did not pass.
 * @module
 */
import type { Requirement } from './requirements.ts';

/** A test that ran, or did not. */
export interface RanTest {
  /** Relative to the project's root. */
  readonly file: string;
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
}

/**
 * One line per promise that is not proven. Proofs in files that were not part of the run are taken to hold. A proof that
 * needs what a machine lacks (a shell, a suite) may be skipped there with `maySkip`; CI has everything.
 */
export function unproven(
  requirements: Readonly<Record<string, Requirement>>,
  tests: readonly RanTest[],
  exists: (file: string) => boolean,
  maySkip = false,
): readonly string[] {
  const byFile = new Map<string, RanTest[]>();
  for (const test of tests) byFile.set(test.file, [...(byFile.get(test.file) ?? []), test]);
  const problems: string[] = [];
  for (const [id, { promise, proofs }] of Object.entries(requirements)) {
    if (proofs.length === 0) problems.push(`${id}: nobody proves: ${promise}`);
    for (const [file, start] of proofs) {
      const ran = byFile.get(file);
      if (ran === undefined) {
        if (!exists(file)) problems.push(`${id}: ${file} does not exist any more`);
        continue;
      }
      const begins = beginning(start);
      const meant = ran.filter(({ name }) => begins.test(name));
      if (meant.length === 0) problems.push(`${id}: ${file} has no test that begins with "${start}"`);
      for (const { name, state } of meant) {
        const holds = state === 'passed' || (state === 'skipped' && maySkip);
        if (!holds) problems.push(`${id}: ${state}: ${file}: ${name}`);
      }
    }
  }
  return problems;
}

/** How a test's name begins; where a table gives the rest (`%s`, `$name`) each of its rows is meant. */
function beginning(start: string): RegExp {
  const parts = start.split(/%[a-z]|\$[a-z]+/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.+')}`, 's');
}
