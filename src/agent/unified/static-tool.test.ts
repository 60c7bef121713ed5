import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toModelResult, UnifiedToolRegistry } from '../../registry.ts';

/** The text that a tool answered with. */
const said = async (registry: UnifiedToolRegistry, name: string, args: unknown): Promise<unknown> =>
  (toModelResult(await registry.callTool(name, args)).content?.[0] as { text?: unknown } | undefined)?.text;

describe('a static tool with a schema of a library', () => {
  const registry = new UnifiedToolRegistry({ toJsonSchema });
  registry.registerStaticTool('zod', (args) => JSON.stringify(args), {
    description: 'Z',
    input_schema: z.object({ to: z.string(), count: z.coerce.number(), cc: z.string().default('nobody') }),
  });
  registry.registerStaticTool('arktype', ({ to }) => to.toUpperCase(), { inputSchema: type({ to: 'string' }) });
  registry.registerStaticTool('valibot', async ({ to }) => to.toUpperCase(), {
    inputSchema: v.object({ to: v.string() }),
  });

  it('is shown with JSON Schema, in every format', () => {
    const [arktype, valibot, zod] = registry.getToolDefinitions();
    expect(zod?.input_schema).toMatchObject({
      type: 'object',
      properties: { to: { type: 'string' }, cc: { type: 'string', default: 'nobody' } },
      required: ['to', 'count'],
    });
    expect(arktype?.input_schema).toMatchObject({ properties: { to: { type: 'string' } }, required: ['to'] });
    expect(valibot?.input_schema).toMatchObject({ properties: { to: { type: 'string' } }, required: ['to'] });
    expect(JSON.stringify(registry.getToolDefinitions())).not.toMatch(/~standard|"def"|\$schema/);
  });

  it('gets its arguments as the schema makes them', async () => {
    expect(await said(registry, 'zod', { to: 'Ada', count: '3' })).toBe('{"to":"Ada","count":3,"cc":"nobody"}');
    expect(await said(registry, 'arktype', { to: 'Ada' })).toBe('ADA');
    expect(await said(registry, 'valibot', '{"to":"Ada"}')).toBe('ADA');
    expect(await said(registry, 'zod', { arguments: { to: 'Ada', count: 1 } })).toContain('"to":"Ada"');
  });

  it.each(['zod', 'arktype', 'valibot'])('of %s does not run with arguments that do not fit', async (name) => {
    expect(await registry.callTool(name, { to: 5, count: 1 })).toMatchObject({
      success: false,
      error: {
        code: 'TOOL_INVALID_INPUT',
        message: expect.stringMatching(/do not fit its schema: .*to.*the tool did not run/s),
        details: {
          code: 'TOOL_VALIDATION_ERROR',
          tool: name,
          outcome: 'not_sent',
          schema: { to: { type: 'string' } },
        },
      },
    });
  });

  it('that cannot be written as JSON Schema is refused with what to do', () => {
    const none = new UnifiedToolRegistry();
    expect(() => none.registerStaticTool('x', () => '', { inputSchema: v.object({}) })).toThrow(
      'new UnifiedToolRegistry({ toJsonSchema })',
    );
    expect(() => none.registerStaticTool('x', () => '', { input_schema: { to: z.string() } })).toThrow(
      'The schema of "x" is an object full of schemas.',
    );
    expect(() => none.registerStaticTool('x', () => '', { input_schema: z.object({ at: z.date() }) })).toThrow(
      'zod cannot write this schema',
    );
  });
});
