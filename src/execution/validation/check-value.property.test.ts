import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fewOf, PLAIN, schema, value } from '../../../test/fixtures/execution/random-schemas.ts';
import { checkValue } from './check-value.ts';
import { checkSchema } from './schema-check.ts';

const fits = (root: unknown, instance: unknown): boolean => {
  const checked = checkSchema(root);
  if (checked.verdict === 'unusable') throw new Error(checked.reason);
  const found = checkValue(checked.root, instance);
  if (found === 'exhausted') throw new Error('exhausted');
  return found.length === 0;
};

/** Undefined if the reference itself fails: a few odd schemas make its generated code throw. */
function byAjv(root: object, instance: unknown): boolean | undefined {
  try {
    return new Ajv2020({ strict: false, validateSchema: false, logger: false }).compile(structuredClone(root))(
      instance,
    );
  } catch {
    return undefined;
  }
}
const cfWorker = new CfWorkerJsonSchemaValidator({ draft: '2020-12' });
const byCfWorker = (root: object, instance: unknown): boolean =>
  cfWorker.getValidator(structuredClone(root) as never)(instance).valid;

describe('checkValue', () => {
  test('agrees with two independent validators on random schemas of all keywords', () => {
    let valid = 0;
    let runs = 0;
    let disputed = 0;
    fc.assert(
      fc.property(schema, fewOf(PLAIN, 2), value, (root, x, drawn) => {
        // As received from a wire: the reference rejects objects without a prototype.
        const instance = JSON.parse(JSON.stringify(drawn));
        const whole = { allOf: [root], $defs: { x, y: { $anchor: 'anchored', ...x } } };
        // Both references have bugs of their own (`contains` beside `prefixItems` or `unevaluatedItems` in one of
        // them).
        const expected = [byAjv(whole, instance), byCfWorker(whole, instance)];
        const got = fits(whole, instance);
        expect(expected).toContain(got);
        runs++;
        if (got) valid++;
        if (expected[0] !== expected[1]) disputed++;
      }),
      { numRuns: 1_500 },
    );
    expect(disputed / runs).toBeLessThan(0.02);
    expect(valid / runs).toBeGreaterThan(0.1);
    expect(valid / runs).toBeLessThan(0.9);
  }, 120_000);

  const whole = fc.maxSafeInteger();

  test('tells multiples of any integer exactly, and never refuses one of a decimal fraction', () => {
    fc.assert(
      fc.property(whole, fc.integer({ min: 1, max: 1_000 }), (n, of) => {
        expect(fits({ multipleOf: of }, n)).toBe(BigInt(n) % BigInt(of) === 0n);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ max: 1e9, min: -1e9 }), fc.integer({ min: 1, max: 12 }), (n, places) => {
        expect(fits({ multipleOf: Number(`1e-${places}`) }, Number(`${n}e-${places}`))).toBe(true);
        expect(fits({ multipleOf: Number(`1e-${places}`) }, Number(`${n}.5e-${places}`))).toBe(false);
      }),
    );
    expect(fits({ multipleOf: 0.1 }, 0.1 + 0.2)).toBe(true);
  });
});
