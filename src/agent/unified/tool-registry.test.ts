/** 001's registry behind 002's: its tools are the program's own. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import { UnifiedToolRegistry } from '../../registry.ts';
import { withRequestProviders } from '../registry/request-scope.ts';
import { ToolRegistry } from '../registry/tool-registry.ts';

const mail = () => {
  const registry = new ToolRegistry({ name: 'mail' });
  registry.registerTool(
    { name: 'send_email', description: 'Send an email', inputSchema: z.object({ to: z.string() }) },
    ({ to }) => `Email sent to ${to}`,
    'smtp',
  );
  registry.registerTool({ name: 'fail', description: 'Fails' }, () => {
    throw new Error('out of order');
  });
  return registry;
};

describe('a ToolRegistry as a provider', () => {
  it('brings its typed tools along, schemas and checks included', async () => {
    const unified = new UnifiedToolRegistry();
    unified.addProvider(mail());
    expect(await unified.discoverAllTools('trace')).toEqual({ success: true, data: { registered: 0 } });
    expect(unified.getToolDefinitions()).toMatchObject([
      { name: 'fail', description: 'Fails' },
      {
        name: 'send_email',
        description: 'Send an email',
        input_schema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
      },
    ]);
    expect(await unified.callTool('send_email', { to: 'ada@example.com' })).toMatchObject({
      success: true,
      data: { content: [{ text: 'Email sent to ada@example.com' }] },
    });
    expect(await unified.callTool('send_email', { to: 7 })).toMatchObject({ error: { code: 'TOOL_INVALID_INPUT' } });
    expect(await unified.callTool('fail')).toMatchObject({
      error: { code: 'TOOL_EXECUTION_FAILED', message: 'out of order' },
    });
  });

  it('does not keep what belongs to the request that happened to discover', async () => {
    const unified = new UnifiedToolRegistry();
    const registry = mail();
    unified.addProvider(registry);
    const mine = new ToolRegistry();
    mine.registerTool({ name: 'my_secret_tool', description: 'Only mine' }, () => 'mine');
    await withRequestProviders(mine, () => unified.discoverAllTools('trace'));
    expect(unified.getToolDefinitions().map(({ name }) => name)).toEqual(['fail', 'send_email']);
  });
});
