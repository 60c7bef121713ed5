import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { engineWith, tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { META, MODERN_VERSION } from '../connections/handshake.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { discoverySurface } from './discovery-surface.ts';
import { exposedSurface, serveGatewayOnHttp } from './index.ts';

/** A server of the old protocol that puts its question about a call of `ask` only once `wait` is called as well. */
const SERVER = `
const { writeFileSync } = require('node:fs');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let open;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const serverInfo = { name: 'late', version: '1' };
  const inputSchema = { type: 'object' };
  if (method === 'initialize') send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
  if (method === 'tools/list') send({ id, result: { tools: [{ name: 'ask', inputSchema }, { name: 'wait', inputSchema }] } });
  if (method !== 'tools/call') return;
  if (params.name === 'ask') {
    open = params.arguments.who;
    return writeFileSync(process.argv[1], 'called');
  }
  const requestedSchema = { type: 'object', properties: {} };
  if (open) send({ id: 'q', method: 'elicitation/create', params: { message: 'for ' + open, requestedSchema } });
  setTimeout(() => send({ id, result: { content: [{ type: 'text', text: 'done' }] } }), 50);
});`;

const SURFACES = {
  'the five meta-tools': {
    surface: discoverySurface,
    params: (tool: string, who: string) => ({
      name: 'execute_tool',
      arguments: { server: 'late', tool, arguments: { who } },
    }),
  },
  'one server shown 1:1': {
    surface: (engine: EngineCore) => exposedSurface(engine, 'late'),
    params: (name: string, who: string) => ({ name, arguments: { who } }),
  },
};

/** A call by a modern client, which exists only for this one request. */
async function call(url: string, params: { name: string }, signal?: AbortSignal): Promise<string> {
  const _meta = {
    [META.protocolVersion]: MODERN_VERSION,
    [META.clientInfo]: { name: 'client', version: '1' },
    [META.clientCapabilities]: { elicitation: { form: {} } },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': 'tools/call',
      'mcp-name': params.name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta } }),
    ...(signal && { signal }),
  });
  return response.text();
}

describe.each(Object.entries(SURFACES))('%s', (_, { surface, params }) => {
  it('never puts a late question about a cancelled call to another client', async () => {
    using folder = tempFolder();
    const called = join(folder.path, 'called');
    await using engine = engineWith({
      servers: [
        { name: 'late', connection: { type: 'stdio', command: process.execPath, args: ['-e', SERVER, called] } },
      ],
    });
    const served = await serveGatewayOnHttp(engine, { port: 0, surface: surface(engine) });
    const alice = new AbortController();
    const cancelled = call(served.url, params('ask', 'Alice'), alice.signal);
    cancelled.catch(() => {});
    await expect.poll(() => existsSync(called), { timeout: 10_000 }).toBe(true);
    alice.abort();
    await expect(cancelled).rejects.toThrow();
    // The gateway hears of it a moment later.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const bob = await call(served.url, params('wait', 'Bob'));
    expect(bob).toContain('done');
    expect(bob).not.toContain('Alice');
    await served.close();
  });
});
