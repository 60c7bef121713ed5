/** What must not compile: `tsc` reads this file, so an expected error that is none fails the build. */
import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { EngineCore as DiscoveryEngine } from '../../engine/engine-core.ts';
import { type RegistryResult, UnifiedToolRegistry } from '../../registry.ts';
import type { AnthropicTool, OpenAiChatTool } from '../formats/definition-types.ts';
import type { GeminiFunctionResponsePart, LangChainToolMessage } from '../formats/result-types.ts';
import type { UnifiedToolRegistryOptions } from './registry-options.ts';

describe('types', () => {
  it('a DiscoveryEngine fits behind a registry', () => {
    const fits = (engine: DiscoveryEngine): UnifiedToolRegistryOptions['servers'] => engine;
    expect(fits(new DiscoveryEngine({ enabled: false }))).toBeInstanceOf(DiscoveryEngine);
  });

  it('definitions have the type of their format', () => {
    const registry = new UnifiedToolRegistry();
    const claude: AnthropicTool[] = registry.getToolDefinitions();
    const openai: OpenAiChatTool[] = registry.getToolDefinitions({ format: 'openai-chat', strict: true });
    // @ts-expect-error Anthropic's tools are not OpenAI's
    const wrong: OpenAiChatTool[] = registry.getToolDefinitions({ format: 'anthropic' });
    expect([claude, openai, wrong]).toEqual([[], [], []]);
  });

  it('misspelt options do not compile', () => {
    // @ts-expect-error `severs`
    expect(() => new UnifiedToolRegistry({ severs: [] })).toThrow('severs');
    const registry = new UnifiedToolRegistry();
    // @ts-expect-error no such format
    expect(() => registry.getToolDefinitions({ format: 'opneai' })).toThrow('opneai');
    // @ts-expect-error Gemini has no strict mode
    expect(() => registry.getToolDefinitions({ format: 'gemini', strict: true })).toThrow('strict');
    // @ts-expect-error `traceid`
    const options: Parameters<typeof registry.callTool>[2] = { traceid: 'x' };
    expect(options).toBeDefined();
  });

  it('a wrong handler, definition or provider does not compile', () => {
    const registry = new UnifiedToolRegistry();
    // @ts-expect-error arguments are an object, not a text
    registry.registerStaticTool('a', (args: string) => args, {});
    // @ts-expect-error a symbol is no answer
    registry.registerStaticTool('b', () => Symbol('x'), {});
    // @ts-expect-error `input_shema`
    expect(() => registry.registerStaticTool('c', () => '', { input_shema: {} })).toThrow('input_shema');
    // @ts-expect-error callTool is missing
    expect(() => registry.addProvider({ listToolMetadata: () => [], getTool: () => undefined })).toThrow('callTool');
    registry.registerStaticTool('typed', ({ city }: { city: string }) => city.toUpperCase(), {});
    registry.registerStaticTool<{ city: string }>('said', ({ city }) => city, {});
    expect(registry.listTools()).toHaveLength(4);
  });

  it('a handler gets the types of its schema', () => {
    const registry = new UnifiedToolRegistry({ toJsonSchema });
    const input_schema = z.object({ to: z.string(), n: z.string().transform(Number), cc: z.string().default('') });
    registry.registerStaticTool(
      'zod',
      (args) => {
        expectTypeOf(args).toEqualTypeOf<{ to: string; n: number; cc: string }>();
        return args.to;
      },
      { input_schema },
    );
    registry.registerStaticTool('arktype', ({ to }) => to.toUpperCase(), { inputSchema: type({ to: 'string' }) });
    registry.registerStaticTool('valibot', async ({ to }) => to.toUpperCase(), {
      description: 'V',
      inputSchema: v.object({ to: v.string() }),
    });
    const raw = {
      type: 'object',
      properties: { to: { type: 'string' }, n: { type: 'integer' } },
      required: ['to'],
    } as const;
    registry.registerStaticTool(
      'raw',
      (args) => {
        expectTypeOf(args).toEqualTypeOf<{ readonly to: string; readonly n?: number }>();
        return args.to;
      },
      { input_schema: raw },
    );
    registry.registerStaticTool('in_place', ({ city }) => city.toUpperCase(), {
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    });
    // @ts-expect-error the schema has no "recipient"
    registry.registerStaticTool('wrong_raw', ({ recipient }) => recipient, { input_schema: raw });
    // @ts-expect-error the schema has no "recipient"
    registry.registerStaticTool('wrong', ({ recipient }) => recipient, { input_schema });
    // @ts-expect-error `to` is a text
    registry.registerStaticTool('wrong_too', (args: { to: number }) => args.to, { input_schema });
    expect(registry.listTools()).toHaveLength(8);
  });

  it('an answer has the type of the format that was said', () => {
    const registry = new UnifiedToolRegistry();
    const loose: { name: string; args: Record<string, unknown>; id?: string; type?: 'tool_call' } = {
      name: 'x',
      args: {},
    };
    expectTypeOf(registry.handle(loose, { format: 'langchain' })).resolves.toEqualTypeOf<LangChainToolMessage>();
    expectTypeOf(registry.handle(loose, { traceId: 'x' })).resolves.toEqualTypeOf<LangChainToolMessage>();
    expectTypeOf(registry.handle({ name: 'x' })).resolves.toEqualTypeOf<GeminiFunctionResponsePart>();
    const claude: AnthropicTool | undefined = registry.getToolDefinitions()[0];
    if (claude) claude.cache_control = { type: 'ephemeral' };
    expect(claude).toBeUndefined();
  });

  it('data is there only after success', async () => {
    const result: RegistryResult<{ registered: number }> = await new UnifiedToolRegistry().discoverAllTools();
    // @ts-expect-error not before `success` was looked at
    expect(result.data).toEqual({ registered: 0 });
    if (result.success) expect(result.data.registered).toBe(0);
    // @ts-expect-error there are only four codes
    else expect(result.error.code === 'TIMEOUT').toBe(false);
  });
});
