/** Real clients over HTTP with authentication on. Each gets in with a token, works, and is told when it has none. */
import { experimental_createMCPClient as createAiClient } from '@ai-sdk/mcp';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StaticTokens } from '../../src/auth/static-tokens.ts';
import { EngineCore } from '../../src/engine/engine-core.ts';
import { discoverySurface } from '../../src/gateway/discovery-surface.ts';
import { type ServedHttp, serveGatewayOnHttp } from '../../src/gateway/serve-http.ts';
import { startTestServer, type TestServer } from '../../src/testing/index.ts';
import { tempFolder } from '../fixtures/gateway/kit.ts';

let server: TestServer;
let folder: ReturnType<typeof tempFolder>;
let engine: EngineCore;
let served: ServedHttp;
let token: string;

beforeAll(async () => {
  folder = tempFolder();
  server = await startTestServer({ tools: { echo: { call: ({ text }) => `said ${text}` } } });
  const created = await new StaticTokens(folder.path).create({ expiresAt: Date.now() + 3_600_000 });
  token = created.text;
  engine = new EngineCore(
    { cache: { enabled: false }, servers: [{ name: 'echo', connection: server.connection }] },
    { env: { ANYGPT_HOME: folder.path } },
  );
  served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine) });
});
afterAll(async () => {
  await served.close();
  await engine.close();
  await server.close();
  folder[Symbol.dispose]();
});

const CALL = { name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: { text: 'hello' } } };
type Headers = Readonly<Record<string, string>>;

/** What a client hears from one call. */
const CLIENTS: Readonly<Record<string, (url: URL, headers: Headers) => Promise<unknown>>> = {
  'SDK version 1': async (url, headers) => {
    const client = new ClientV1({ name: 't', version: '0' });
    await client.connect(new TransportV1(url, { requestInit: { headers } }) as never);
    return client.callTool(CALL).finally(() => client.close());
  },
  'SDK version 2, protocol 2025-11-25': (url, headers) => version2(url, headers, 'legacy'),
  'SDK version 2, protocol 2026-07-28': (url, headers) => version2(url, headers, { pin: '2026-07-28' }),
  'SDK version 2, finding out by itself': (url, headers) => version2(url, headers, 'auto'),
  '@ai-sdk/mcp': async (url, headers) => {
    const client = await createAiClient({ transport: { type: 'http', url: url.href, headers } });
    try {
      const { execute_tool: tool } = await client.tools();
      return await tool?.execute(CALL.arguments as never, { toolCallId: '1', messages: [] } as never);
    } finally {
      await client.close();
    }
  },
};

async function version2(url: URL, headers: Headers, mode: 'legacy' | 'auto' | { pin: string }): Promise<unknown> {
  const client = new ClientV2({ name: 't', version: '0' }, { versionNegotiation: { mode } as never });
  await client.connect(new TransportV2(url, { requestInit: { headers } }));
  return client.callTool(CALL).finally(() => client.close());
}

describe.each(Object.entries(CLIENTS))('%s', (_name, call) => {
  it('works with a token', async () => {
    const result = await call(new URL(served.url), { Authorization: `Bearer ${token}` });
    expect(JSON.stringify(result)).toContain('said hello');
  });

  it('is refused without one, and hears why', async () => {
    await expect(call(new URL(served.url), {})).rejects.toThrow(/401|[Uu]nauthorized|A bearer token is missing/);
  });
});
