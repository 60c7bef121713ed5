/** What must not compile: `tsc` reads this file, so an expected error that is none fails the build. */
import { describe, expect, it } from 'vitest';
import { DiscoveryEngine } from '../discovery-engine.ts';
import type { AnthropicTool, OpenAiChatTool } from '../formats/definition-types.ts';
import { type RegistryResult, type ToolServers, UnifiedToolRegistry } from './index.ts';

describe('types', () => {
  it('a DiscoveryEngine fits behind a registry', () => {
    const fits = (engine: DiscoveryEngine): ToolServers => engine;
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
    expect(registry.getToolDefinitions({ format: 'gemini', strict: true })).toEqual([]);
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
    registry.registerStaticTool('c', () => '', { input_shema: {} });
    // @ts-expect-error callTool is missing
    expect(() => registry.addProvider({ listToolMetadata: () => [], getTool: () => undefined })).toThrow('callTool');
    registry.registerStaticTool('typed', ({ city }: { city: string }) => city.toUpperCase(), {});
    expect(registry.listTools()).toHaveLength(4);
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
