/** `ToolExecutionProxy` as the specification writes it: connect, execute, executeStream, disconnect. */
import { describe, expect, it } from 'vitest';
import { sample } from '../../test/fixtures/engine.ts';
import { ConfigurationError, ToolExecutionProxy } from '../index.ts';
import { startTestServer } from '../testing/index.ts';

const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
const units = { type: 'stdio' as const, ...sample('units') };

describe('a ToolExecutionProxy', () => {
  it('connects to a server that a program names, calls its tools and disconnects', async () => {
    await using proxy = new ToolExecutionProxy({ env });
    expect(proxy.isConnected('units')).toBe(false);
    await proxy.connect('units', units);
    expect(proxy.isConnected('units')).toBe(true);
    expect(await proxy.execute('units', 'convert_length', { value: 1, from: 'km', to: 'm' })).toMatchObject({
      success: true,
      result: { structuredContent: { value: 1000, unit: 'm' } },
    });
    await proxy.disconnect('units');
    expect(proxy.isConnected('units')).toBe(false);
    expect(await proxy.execute('units', 'convert_length', {})).toMatchObject({
      success: false,
      error: { code: 'SERVER_NOT_FOUND', server: 'units' },
    });
    await proxy.disconnect('units');
  });

  it('keeps other servers connected when one comes or goes', async () => {
    await using server = await startTestServer({ tools: { ping: { call: () => 'pong' } } });
    await using proxy = new ToolExecutionProxy({ env });
    await proxy.connect('units', units);
    await proxy.connect('remote', server.connection);
    expect([proxy.isConnected('units'), proxy.isConnected('remote')]).toEqual([true, true]);
    await proxy.disconnect('units');
    expect(proxy.isConnected('remote')).toBe(true);
    expect(await proxy.execute('remote', 'ping')).toMatchObject({ success: true });
  });

  it('fails only the connection that cannot be used, however many are made at once', async () => {
    await using server = await startTestServer({ tools: { ping: { call: () => 'pong' } } });
    await using proxy = new ToolExecutionProxy({ env });
    const odd = { type: 'http' as const, url: 'ftp://nowhere' };
    const connects = [
      proxy.connect('remote', server.connection),
      proxy.connect('odd', odd),
      proxy.connect('same', server.connection),
      proxy.connect('same', odd),
    ];
    const statuses = (await Promise.allSettled(connects)).map(({ status }) => status);
    expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    for (const name of ['remote', 'same']) expect(await proxy.execute(name, 'ping')).toMatchObject({ success: true });
  });

  it('has nothing to disconnect after it was closed, also while a server is being disconnected', async () => {
    const proxy = new ToolExecutionProxy({ env });
    await proxy.connect('units', units);
    const leaving = proxy.disconnect('units');
    await Promise.all([proxy.close(), leaving]);
    await proxy.disconnect('units');
    await proxy.close();
    await expect(proxy.connect('units', units)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('streams a call: exactly one result at the end', async () => {
    await using proxy = new ToolExecutionProxy({ env });
    await proxy.connect('units', units);
    const events = [];
    for await (const event of proxy.executeStream('units', 'convert_length', { value: 1, from: 'km', to: 'm' }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'result', result: { success: true } });
  });

  it('says why a server cannot be connected to, and what is wrong with a call', async () => {
    await using proxy = new ToolExecutionProxy({ env });
    await expect(proxy.connect('gone', { type: 'http', url: 'http://127.0.0.1:1/mcp' })).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      server: 'gone',
    });
    await expect(proxy.connect('odd', { type: 'http', url: 'ftp://nowhere' })).rejects.toThrow(ConfigurationError);
    await proxy.connect('units', units);
    expect(await proxy.execute('units', 'convert_length', { value: 'x' })).toMatchObject({
      success: false,
      error: { code: 'TOOL_VALIDATION_ERROR', server: 'units', tool: 'convert_length' },
    });
  });
});
