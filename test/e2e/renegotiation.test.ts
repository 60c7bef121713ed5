import { describe, expect, it } from 'vitest';
import { executingServer, type Kind } from '../fixtures/connections/executing-server.ts';
import { engineIn, entry, folder } from '../fixtures/engine.ts';
import { evil } from '../fixtures/evil.ts';

const retry = { attempts: 3, initial: 1, max: 2 };
const MODERN_ONLY = { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2026-07-28'] } };

describe('a server that speaks another revision of the protocol than before', () => {
  it.each<[Kind, Kind]>([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['sse', 'modern'],
    ['modern', 'sse'],
  ])('is greeted anew while we run: %s becomes %s', async (before, after) => {
    using home = folder();
    await using server = await executingServer(before);
    const type = before === 'sse' ? 'sse' : 'http';
    const url = `${server.origin}/sse`;
    await using engine = engineIn(home, { servers: [{ name: 'bank', connection: { type, url } }], retry });
    const transfer = (key: string) => engine.call({ server: 'bank', tool: 'transfer', arguments: { key } });
    expect(await transfer('first')).toMatchObject({ success: true });
    server.kind = after;
    expect(await transfer('second')).toMatchObject({ success: true });
    expect(await transfer('third')).toMatchObject({ success: true });
    expect(Object.fromEntries(server.executions)).toEqual({ first: 1, second: 1, third: 1 });
  });

  it.each<[Kind, Kind]>([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
    ['modern', 'sse'],
  ])('is greeted anew after a start that remembers it: %s becomes %s', async (before, after) => {
    using home = folder();
    await using server = await executingServer(before);
    for (const kind of [before, after]) {
      server.kind = kind;
      const url = `${server.origin}/sse`;
      await using engine = engineIn(home, { servers: [{ name: 'bank', connection: { type: 'http', url } }], retry });
      await engine.searchTools('transfer', { waitMs: 10_000 });
      expect(await engine.call({ server: 'bank', tool: 'transfer', arguments: { key: kind } })).toMatchObject({
        success: true,
      });
    }
  });

  it('is greeted anew although it executes the call it refuses, and that call is not made again', async () => {
    using home = folder();
    await using server = await executingServer('legacy');
    await using engine = engineIn(home, {
      servers: [{ name: 'bank', connection: { type: 'http', url: server.url } }],
      retry,
    });
    const transfer = (key: string) => engine.call({ server: 'bank', tool: 'transfer', arguments: { key } });
    server.act = ({ id, response }) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, error: MODERN_ONLY }));
    expect(await transfer('k')).toMatchObject({ success: false, error: { outcome: 'failed' } });
    expect(server.executions.get('k')).toBe(1);
  });

  it.each([
    ['legacy', [{ error: MODERN_ONLY }]],
    ['modern', [{ error: { code: -32601, message: 'Method not found' } }]],
    ['modern', [{ exit: 1 }]],
    ['modern', []],
  ] as const)('is greeted anew on stdio: a %s one answers with %j', { timeout: 30_000 }, async (era, refusal) => {
    using home = folder();
    const greeting = era === 'legacy' ? 'initialize' : 'server/discover';
    using server = evil({
      era: 'both',
      on: [
        { method: era === 'legacy' ? 'server/discover' : 'initialize', spawn: 1, do: [{ error: MODERN_ONLY }] },
        { method: greeting, spawn: [2, null], do: refusal },
        { method: 'tools/call', spawn: 1, nth: 2, do: [{ exit: 0 }] },
      ],
    });
    await using engine = engineIn(home, {
      servers: [entry('s', server, { timeouts: { connect: 3000 } })],
      retry,
    });
    const call = () => engine.call({ server: 's', tool: 'echo', arguments: { text: 'x' } });
    expect(await call()).toMatchObject({ success: true });
    expect(await call()).toMatchObject({ success: false, error: { outcome: 'unknown' } });
    expect(await call()).toMatchObject({ success: true });
  });

  it('is greeted anew on stdio although its process lives on', async () => {
    using home = folder();
    const modernOnly = [{ error: MODERN_ONLY }];
    using server = evil({
      era: 'both',
      on: [
        { method: 'initialize', spawn: [2, null], do: modernOnly },
        { method: 'ping', do: modernOnly },
        { method: 'tools/call', spawn: 1, nth: [2, null], do: modernOnly },
      ],
    });
    await using engine = engineIn(home, { servers: [entry('s', server)], retry });
    const call = () => engine.call({ server: 's', tool: 'echo', arguments: { text: 'x' } });
    expect(await call()).toMatchObject({ success: true });
    expect(await call()).toMatchObject({ success: true });
  });
});
