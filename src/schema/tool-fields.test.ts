import { specTypeSchemas } from '@modelcontextprotocol/client';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeInput, inputFault, withoutIllTyped } from './tool-fields.ts';

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, 5, 'x', true, [], ['x'], [5], {}, 'object', 'array', { type: 'object' }, [
    { src: 'x' },
  ]),
  fc.dictionary(
    fc.constantFrom('title', 'readOnlyHint', 'src', 'sizes', 'theme', 'taskSupport', '$schema', 'type', 'a'),
    fc.constantFrom<unknown>(null, 5, 'x', true, [], ['x'], [5], {}, 'light', 'optional', 'object'),
  ),
);
const fields = fc.dictionary(
  fc.constantFrom('title', 'description', 'annotations', 'outputSchema', 'icons', 'execution', '_meta', 'other'),
  odd,
);
const input = fc.dictionary(fc.constantFrom('type', 'properties', 'required', '$defs', 'x'), odd);

test('whatever fields a tool has, clients of both SDKs accept the list with what is left of it', () => {
  fc.assert(
    fc.property(fields, input, (rest, schema) => {
      fc.pre(inputFault(schema) === undefined);
      const tool = { ...withoutIllTyped(rest), name: 'a', inputSchema: completeInput(schema) };
      const { outputSchema: _, ...forVersion1 } = tool as Record<string, unknown>;
      expect(ListToolsResultSchema.safeParse({ tools: [forVersion1] }).error).toBeUndefined();
      const checked = specTypeSchemas.ListToolsResult['~standard'].validate({ tools: [tool] });
      expect(checked).not.toHaveProperty('issues');
    }),
    { numRuns: 2_000 },
  );
});

test('a tool whose fields are all well typed stays the same object', () => {
  const tool = {
    title: 'A',
    description: 'Reads',
    annotations: { title: 'A', readOnlyHint: true, other: 5 },
    outputSchema: { type: 'object', required: ['a'] },
    icons: [{ src: 'https://example.com/a.png', sizes: ['48x48'], theme: 'dark' }],
    execution: { taskSupport: 'optional' },
    _meta: { a: 1 },
  };
  expect(withoutIllTyped(tool)).toBe(tool);
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  expect(inputFault(schema)).toBeUndefined();
  expect(completeInput(schema)).toBe(schema);
});

test('only the members of a wrong type are left out', () => {
  expect(
    withoutIllTyped({
      title: 5,
      annotations: { title: 5, readOnlyHint: 'yes', destructiveHint: false, x: 1 },
      icons: [{ src: 5 }, { src: 'a' }, 'x'],
      execution: { taskSupport: 5 },
      _meta: 5,
      outputSchema: { type: 5 },
      other: 7,
    }),
  ).toEqual({
    annotations: { destructiveHint: false, x: 1 },
    icons: [{ src: 'a' }],
    execution: {},
    other: 7,
  });
  expect(completeInput({ properties: null, required: null, title: 'x' })).toEqual({ type: 'object', title: 'x' });
  expect(completeInput({ properties: { a: true, b: false } })).toEqual({
    type: 'object',
    properties: { a: {}, b: { not: {} } },
  });
  // As real servers have it.
  expect(
    completeInput({ type: ['object', 'null'], properties: { a: { type: 'string' }, required: ['a'] }, required: true }),
  ).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
});
