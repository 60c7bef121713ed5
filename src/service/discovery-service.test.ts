import { describe, expect, it } from 'vitest';
import { entry, sample } from '../../test/fixtures/engine.ts';
import type { ServerConfig } from '../config/define-config.ts';
import { DiscoveryEngine } from '../engine/discovery-engine.ts';

const units = entry('units', sample('units')) as ServerConfig;

describe('a server that is not configured', () => {
  it('is discovered; its tools are found and called once they are registered', async () => {
    await using engine = new DiscoveryEngine({ servers: [] });
    const service = engine.service();
    const tools = await service.discoverTools(units);
    const length = tools.find(({ provider }) => provider.toolName === 'convert_length');
    expect(length).toMatchObject({
      id: 'mcp.units.convert_length',
      inputType: expect.stringContaining('[:value :float]'),
    });

    expect(await engine.searchTools('convert a length')).toEqual([]);
    expect(await engine.executeTool('units', 'convert_length', { value: 1, from: 'km', to: 'm' })).toMatchObject({
      error: { code: 'SERVER_NOT_FOUND' },
    });

    await service.registerCapability(length as NonNullable<typeof length>);
    expect((await engine.searchTools('convert a length'))[0]).toMatchObject({
      server: 'units',
      tool: 'convert_length',
    });
    expect(await engine.executeTool('units', 'convert_length', { value: 1, from: 'km', to: 'm' })).toMatchObject({
      result: { structuredContent: { value: 1000, unit: 'm' } },
    });
    expect(await engine.executeTool('units', 'convert_weight', { value: 1, from: 'kg', to: 'g' })).toMatchObject({
      error: { code: 'TOOL_DISABLED' },
    });
    expect((await engine.listTools('units')).map(({ name }) => name)).toEqual(['convert_length']);
  });
});
