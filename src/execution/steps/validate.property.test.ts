import fc from 'fast-check';
import { expect, test } from 'vitest';
import { schema } from '../../../test/fixtures/execution/random-schemas.ts';
import { aCall, DONE } from '../../../test/fixtures/execution/test-kit.ts';
import { ToolRegistry } from '../../agent/registry/tool-registry.ts';
import { SchemaValidators } from '../validation/schema-validators.ts';
import { validate } from './validate.ts';

const WRAPPERS = ['arguments', 'args', 'params', 'parameters', 'input'];
const inner = fc.dictionary(fc.constantFrom('a', 'b', 'input'), fc.oneof(fc.integer(), fc.constant('{}')), {
  maxKeys: 2,
});
const sent = fc.oneof(
  inner,
  fc
    .tuple(
      fc.constantFrom(...WRAPPERS),
      fc.oneof(
        inner,
        inner.map((value) => JSON.stringify(value)),
      ),
    )
    .map(([key, value]) => ({ [key]: value })),
);

test('for any schema, valid arguments arrive exactly as they were sent, and others repaired or not at all', async () => {
  const validators = new SchemaValidators();
  const fits = async (inputSchema: object, value: unknown) =>
    (await validators.check(inputSchema, value)).status === 'fits';
  let valid = 0;
  await fc.assert(
    fc.asyncProperty(schema, fc.constantFrom(...WRAPPERS, 'a'), sent, async (part, name, drawn) => {
      const args = JSON.parse(JSON.stringify(drawn)) as Record<string, unknown>;
      const inputSchema = {
        type: 'object',
        allOf: [part],
        $defs: { x: { required: [name] }, y: { $anchor: 'anchored' } },
      };
      const got: unknown[] = [];
      await validate(validators)(async (call) => {
        got.push(call.arguments);
        return DONE;
      })(aCall({ definition: { name: 't', inputSchema }, arguments: args }));
      const registry = new ToolRegistry();
      registry.registerTool({ name: 't', description: '', inputSchema }, (read) => {
        got.push(read);
        return '';
      });
      await registry.callTool('t', args);
      if (await fits(inputSchema, args)) {
        valid++;
        expect(got).toEqual([args, args]);
        return;
      }
      // The generator makes no other texts than JSON.
      const [held] = Object.values(args);
      const meant = typeof held === 'string' ? JSON.parse(held) : held;
      const isMeant = Object.keys(args).length === 1 && (await fits(inputSchema, meant));
      expect(got).toEqual(isMeant && WRAPPERS.includes(Object.keys(args)[0] ?? '') ? [meant, meant] : []);
    }),
    { numRuns: 500 },
  );
  await validators.close();
  expect(valid).toBeGreaterThan(50);
});
