import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SchemaValidators } from './schema-validators.ts';

/** The folder with `draft2020-12/` and `draft7/`, created by `scripts/json-schema-suite.mjs`. */
const SUITE =
  process.env.JSON_SCHEMA_TEST_SUITE ?? fileURLToPath(new URL('../../../.json-schema-suite', import.meta.url));

interface Group {
  readonly description: string;
  readonly schema: object | boolean;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

/** Reasons for which a schema may be left to the server. All other cases must match the suite. */
const LEFT_TO_THE_SERVER = [
  // Nothing is ever fetched, and embedded documents are not distinguished.
  /^its reference ".*" leads out of the schema; nothing is fetched$/,
  /^it contains another schema with its own \$id$/,
  /^its \$schema names an unknown dialect$/,
];
const isLeft = (reason: string | undefined): boolean => LEFT_TO_THE_SERVER.some((known) => known.test(reason ?? ''));

/** Returns the cases that differ from the suite: valid values refused, and invalid ones accepted as checked. */
async function disagreements(draft: string, dialect: object) {
  await using validators = Object.assign(new SchemaValidators({ budget: 10_000 }), {
    [Symbol.asyncDispose]: () => validators.close(),
  });
  const found = { cases: 0, left: 0, refused: [] as string[], passed: [] as string[] };
  for (const file of readdirSync(join(SUITE, draft)).filter((name) => name.endsWith('.json'))) {
    for (const { description, schema, tests } of JSON.parse(
      readFileSync(join(SUITE, draft, file), 'utf8'),
    ) as readonly Group[]) {
      const whole = typeof schema === 'boolean' ? { allOf: [schema] } : { ...dialect, ...schema };
      for (const { description: one, data, valid } of tests) {
        const verdict = await validators.check(whole, data);
        const name = `${file}: ${description}: ${one}`;
        found.cases++;
        if (verdict.status === 'unchecked' && isLeft(verdict.reason)) found.left++;
        else if (valid && verdict.status !== 'fits') found.refused.push(name);
        else if (!valid && verdict.status !== 'broken') found.passed.push(name);
      }
    }
  }
  return found;
}

// A machine without Debian's packages may lack the suite; CI may not.
describe.skipIf(!existsSync(SUITE) && !process.env.CI)('the official test suite of JSON Schema', () => {
  test.each([
    ['draft2020-12', {}, 1_000],
    ['draft7', { $schema: 'http://json-schema.org/draft-07/schema#' }, 800],
  ])(
    '%s: no valid value is refused, and no invalid one passes as checked',
    async (draft, dialect, atLeast) => {
      const { cases, left, refused, passed } = await disagreements(draft, dialect);
      expect({ refused, passed }).toEqual({ refused: [], passed: [] });
      expect(cases).toBeGreaterThan(atLeast);
      expect(left / cases).toBeLessThan(0.15);
    },
    120_000,
  );
});
