import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { engineWith } from '../../test/fixtures/gateway/kit.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server of the new protocol that refuses the version of the first requests of each method, and names versions. */
async function refusing(times: number, supported: readonly string[]) {
  const seen: string[] = [];
  const results: Record<string, object> = {
    'server/discover': {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: 'private',
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }], ttlMs: 0, cacheScope: 'private' },
    'tools/call': { content: [{ type: 'text', text: 'called' }] },
  };
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = body === '' ? ({} as never) : JSON.parse(body);
    seen.push(method);
    const isRefused = seen.filter((one) => one === method).length <= times;
    const error = { code: -32022, message: 'unsupported protocol version', data: { supported } };
    const answer = isRefused ? { error } : { result: { resultType: 'complete', ...results[method] } };
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closing.push(() => http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return { seen, entry: { name: 'it', connection: { type: 'http', url } } };
}

describe('a refusal of the protocol version', () => {
  it('that names our version is followed by the same request', async () => {
    const { entry, seen } = await refusing(1, ['2026-07-28']);
    await using engine = engineWith({ servers: [entry] });
    const result = await engine.call({ server: 'it', tool: 'echo', arguments: {} });
    expect(result).toMatchObject({ success: true, data: { content: [{ text: 'called' }] } });
    expect(seen.filter((method) => method === 'tools/call')).toHaveLength(2);
  });

  it('that comes again and again ends the request', async () => {
    const { entry, seen } = await refusing(1_000, ['2026-07-28']);
    await using engine = engineWith({ servers: [entry] });
    expect(await engine.call({ server: 'it', tool: 'echo', arguments: {} })).toMatchObject({ success: false });
    expect(seen.length).toBeLessThan(40);
  });
});
