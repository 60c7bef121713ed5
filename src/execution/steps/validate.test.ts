import { describe, expect, test } from 'vitest';
import { aCall, codeOf, DONE, done } from '../../../test/fixtures/execution/test-kit.ts';
import { ok } from '../../core/result.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import type { Handler } from '../pipeline.ts';
import { SchemaValidators } from '../validation/schema-validators.ts';
import { validate } from './validate.ts';

describe('validate', () => {
  const validators = new SchemaValidators();
  const definition: ToolDefinition = {
    name: 't',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string' } },
      required: ['title'],
      additionalProperties: false,
    },
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  };
  const echo: Handler = async (one) => ok({ structuredContent: { n: 1, args: one.arguments } });

  test('bad arguments are refused with path, schema and suggestion, and nothing is sent', async () => {
    let sent = false;
    const pass = validate(validators)(async () => {
      sent = true;
      return DONE;
    });
    const result = await pass(aCall({ definition, arguments: { titel: 'x' } }));
    expect(result).toMatchObject({
      error: {
        code: 'TOOL_VALIDATION_ERROR',
        outcome: 'not_sent',
        server: 's',
        tool: 't',
        schema: { title: { type: 'string' }, titel: { properties: ['title'], additionalProperties: false } },
        suggestions: ['title'],
      },
    });
    expect(result.success === false && result.error.message).toContain(
      '"title" is missing (string); "titel" is not a known property; did you mean "title"?',
    );
    expect(sent).toBe(false);
    expect(await pass(aCall({ definition, arguments: [] as unknown as Record<string, unknown> }))).toMatchObject({
      error: { schema: { '(all)': expect.anything() } },
    });
  });

  test('arguments nested one level too deep are lifted', async () => {
    expect(
      await validate(validators)(echo)(aCall({ definition, arguments: { arguments: { title: 'x' } } })),
    ).toMatchObject({ data: { structuredContent: { args: { title: 'x' } } } });
  });

  test.each<[string, object]>([
    ['anyOf', { properties: { name: {} }, anyOf: [{ required: ['name'] }, { required: ['input'] }] }],
    ['$ref', { properties: { name: {} }, allOf: [{ $ref: '#/$defs/in' }], $defs: { in: { required: ['input'] } } }],
    [
      'patternProperties',
      { properties: { name: {} }, patternProperties: { '^in': { type: 'object' } }, additionalProperties: false },
    ],
    ['additionalProperties', { properties: { name: {} }, additionalProperties: { type: 'object' } }],
    ['required alone', { properties: { name: {} }, required: ['input'] }],
    ['else', { properties: { name: {} }, if: { required: ['name'] }, else: { required: ['input'] } }],
  ])('arguments that fit are sent as they are, whatever their name: %s', async (_keyword, inputSchema) => {
    const args = { input: { a: 1 } };
    const result = await validate(validators)(echo)(
      aCall({ definition: { name: 't', inputSchema: inputSchema as Record<string, unknown> }, arguments: args }),
    );
    expect(result).toMatchObject({ data: { structuredContent: { args } } });
  });

  test('arguments that fit neither as sent nor unwrapped are refused as they were sent', async () => {
    const refused = await validate(validators)(echo)(aCall({ definition, arguments: { input: { titel: 'x' } } }));
    expect(refused.success === false && refused.error.message).toContain('"input" is not a known property');
  });

  test('arguments without bottom are refused and not sent, however they are wrapped', async () => {
    let sent = 0;
    const pass = validate(validators)(async () => {
      sent++;
      return DONE;
    });
    const nest = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    const text = `{"title":${'['.repeat(300)}${']'.repeat(300)}}`;
    for (const call of [
      aCall({ arguments: { a: nest(200) } }),
      aCall({ definition, arguments: { title: nest(100_000) } }),
      aCall({ definition, arguments: { arguments: text } }),
    ])
      expect(await pass(call)).toMatchObject({
        error: { code: 'TOOL_VALIDATION_ERROR', outcome: 'not_sent', retryable: false },
      });
    expect(sent).toBe(0);
    expect(codeOf(await pass(aCall({ arguments: { a: nest(199) } })))).toBe('ok');
  });

  test('a call without a definition, and good arguments, pass', async () => {
    expect(await validate(validators)(done)(aCall())).toBe(DONE);
    expect(codeOf(await validate(validators)(echo)(aCall({ definition, arguments: { title: 'x' } })))).toBe('ok');
  });

  test('a tool with an unusable schema is called unchecked and flagged', async () => {
    const odd = { name: 't', inputSchema: { $ref: '#' }, outputSchema: { $ref: 'file:///x' } };
    const structured: Handler = async () => ok({ structuredContent: 1 });
    const call = aCall({ definition: odd });
    expect(codeOf(await validate(validators, 'off')(structured)(call))).toBe('ok');
    expect(call.notes?.flags).toEqual(['invalid_schema']);
    const other = aCall({ definition: { ...odd, inputSchema: {} } });
    expect(codeOf(await validate(validators)(structured)(other))).toBe('ok');
    expect(other.notes?.flags).toEqual(['invalid_schema']);
  });

  describe('of output', () => {
    const good = { title: 'x' };
    const returning =
      (data: CallToolResult): Handler =>
      async () =>
        ok(data);

    test.each<[string, CallToolResult]>([
      ['that breaks its schema', { content: [{ type: 'text', text: 'original' }], structuredContent: { n: 'x' } }],
      ['that is missing', { content: [{ type: 'text', text: 'original' }] }],
    ])('%s: passed on and flagged, or refused with its text kept', async (_name, data) => {
      const call = aCall({ definition, arguments: good });
      const warned = await validate(validators, 'warn')(returning(data))(call);
      expect(warned.success && warned.data).toBe(data);
      expect(call.notes?.flags).toEqual(['invalid_output']);
      const unasked = aCall({ definition, arguments: good });
      await validate(validators, 'off')(returning(data))(unasked);
      expect(unasked.notes?.flags).toBeUndefined();
      const strict = await validate(validators, 'strict')(returning(data))(aCall({ definition, arguments: good }));
      expect(strict).toMatchObject({
        error: { code: 'TOOL_VALIDATION_ERROR', outcome: 'failed', message: expect.stringContaining('original') },
      });
    });

    test('an error result is never replaced, an unfinished one neither', async () => {
      for (const data of [{ isError: true, structuredContent: { n: 'x' } }, { resultType: 'input_required' }]) {
        const result = await validate(validators, 'strict')(returning(data))(aCall({ definition, arguments: good }));
        expect(result.success && result.data).toBe(data);
      }
    });

    test('without text the refusal says so, and good output passes', async () => {
      const strict = validate(validators, 'strict');
      expect(await strict(returning({ structuredContent: {} }))(aCall({ definition, arguments: good }))).toMatchObject({
        error: { message: expect.stringContaining('no text') },
      });
      const long = { content: [{ type: 'text', text: 'y'.repeat(50_000) }] };
      const refused = await strict(returning(long))(aCall({ definition, arguments: good }));
      expect(refused.success === false && refused.error.message.length).toBeLessThan(17_000);
      expect(
        codeOf(await strict(returning({ structuredContent: { n: 1 } }))(aCall({ definition, arguments: good }))),
      ).toBe('ok');
    });
  });
});
