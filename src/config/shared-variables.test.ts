import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serversFromEnv } from '../agent/unified/servers-from-env.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { startTestServer } from '../testing/index.ts';

const TOKEN = 'token-of-only-one-of-them-1';

async function configOf(names: readonly string[], env: Record<string, string>, more: object = { auth: 'env' }) {
  const home = mkdtempSync(join(tmpdir(), 'variables-'));
  const connection = { type: 'http', url: 'http://127.0.0.1:9/mcp', ...more };
  const servers = names.map((name) => ({ name, connection }));
  const engine = new EngineCore({ servers, cache: { enabled: false } } as never, {
    env: { ANYGPT_HOME: home, ...env },
  });
  try {
    return await engine.getConfig();
  } finally {
    await engine.close();
    rmSync(home, { recursive: true, force: true });
  }
}

describe('servers whose names give the same variable', () => {
  it.each([[['my-server', 'my.server']], [['my-server', 'My_Server', 'other']], [['caf\u00e9', 'caf\u00e8']]])(
    'get no token of the other, and that is said: %j',
    async (names) => {
      const { servers, warnings } = await configOf(names, {});
      const [first = '', second = ''] = names;
      for (const { name, connection } of servers)
        expect(connection, name).toMatchObject({ auth: name === 'other' ? 'env' : undefined });
      expect(warnings.join('\n')).toContain(
        `would be the token of ${JSON.stringify(first)} and ${JSON.stringify(second)}`,
      );
      expect(warnings.join('\n')).toContain('Rename one, or write headers');
    },
  );

  it('count only while they are on: one that is switched off takes no token away', async () => {
    const { servers } = await configOf(['my-server', 'other'], { MY_SERVER_MCP_TOKEN: TOKEN });
    expect(servers[0]?.connection).toMatchObject({ auth: 'env' });
    const home = mkdtempSync(join(tmpdir(), 'variables-'));
    const connection = { type: 'http', url: 'http://127.0.0.1:9/mcp', auth: 'env' };
    const entries = [
      { name: 'my-server', connection },
      { name: 'my.server', enabled: false, connection },
    ];
    await using engine = new EngineCore({ servers: entries, cache: { enabled: false } } as never, {
      env: { ANYGPT_HOME: home },
    });
    const config = await engine.getConfig();
    expect(config.servers[0]?.connection).toMatchObject({ auth: 'env' });
    expect(config.warnings.join()).not.toContain('would be the token');
    rmSync(home, { recursive: true, force: true });
  });

  it('are sent nothing on the wire', async () => {
    const seen: unknown[] = [];
    await using server = await startTestServer({ tools: { echo: { call: () => 'x' } } });
    const { createServer, request } = await import('node:http');
    const proxy = createServer((incoming, outgoing) => {
      seen.push(incoming.headers.authorization);
      const { url = '/', method = 'GET', headers } = incoming;
      const { host: _host, ...rest } = headers;
      const onward = request(new URL(url, server.url), { method, headers: rest }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const url = new URL(server.url);
    url.port = String((proxy.address() as { port: number }).port);
    const connection = { type: 'http' as const, url: url.href, auth: 'env' as const };
    const env = { MY_SERVER_MCP_TOKEN: TOKEN, ALONE_MCP_TOKEN: TOKEN, ANYGPT_HOME: join(tmpdir(), 'no-such-home') };
    const servers = ['my-server', 'my.server', 'alone'].map((name) => ({ name, connection }));
    const engine = new EngineCore({ servers, cache: { enabled: false }, audit: { enabled: false } }, { env });
    try {
      for (const name of ['my-server', 'my.server']) await engine.listTools(name);
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.filter(Boolean)).toEqual([]);
      await engine.listTools('alone');
      expect(seen.filter(Boolean)).toContain(`Bearer ${TOKEN}`);
    } finally {
      await engine.close();
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it('are all switched off by it, and that is said', async () => {
    const { servers, warnings } = await configOf(
      ['my-server', 'my.server', 'x'],
      { MY_SERVER_MCP_ENABLED: 'false' },
      {},
    );
    expect(servers.map(({ enabled }) => enabled)).toEqual([false, false, true]);
    expect(warnings.join('\n')).toContain('MY_SERVER_MCP_ENABLED switches off "my-server" and "my.server"');
    expect((await configOf(['my-server', 'x'], { MY_SERVER_MCP_ENABLED: 'false' }, {})).warnings).toEqual([]);
  });

  it('cannot both be taken from the environment', () => {
    expect(() => serversFromEnv(['my-server', 'my_server'], {})).toThrow('"my-server" and "my_server" would both use');
  });
});
