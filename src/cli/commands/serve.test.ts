import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeIo, fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { rawClient, sdkClient, tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { StaticTokens } from '../../auth/static-tokens.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { main } from '../main.ts';

let server: TestServer;
let folder: ReturnType<typeof tempFolder>;
let config: string;

beforeAll(async () => {
  server = await startTestServer({ tools: { echo: { call: () => 'hello' } } });
});
afterAll(() => server.close());
beforeEach(() => {
  folder = tempFolder();
  config = write({ servers: [{ name: 'echo', connection: server.connection }] });
});
afterEach(() => {
  folder[Symbol.dispose]();
});

const write = (value: unknown): string => {
  const path = join(folder.path, 'config.json');
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const start = (argv: string[], tty = false): { io: FakeIo; done: Promise<number> } => {
  const io = fakeIo({ cwd: folder.path, env: { ANYGPT_HOME: join(folder.path, 'home') }, tty });
  return { io, done: main(['mcp', 'serve', ...argv], io) };
};
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
};

describe('serve on stdio', () => {
  it('speaks MCP on stdin and stdout and ends with 0 when its client goes', async () => {
    const { io, done } = start(['--config', config]);
    io.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    await expect.poll(io.out).toContain('@anygpt/discovery');
    io.stdin.end();
    expect(await done).toBe(0);
    expect([io.err(), io.listeners()]).toEqual(['', 0]);
  });

  it('says on a terminal what it is and what to type instead', async () => {
    const { io, done } = start(['--config', config], true);
    await expect.poll(io.err).toContain('This is an MCP server');
    expect(io.err()).toContain('anygpt --help');
    expect(io.out()).toBe('');
    io.stdin.end();
    await done;
  });

  it('speaks on the stream that is kept for the protocol', async () => {
    const { io, done } = start(['--config', config]);
    const reserved = rawClient();
    Object.assign(io, { reserveStdout: () => reserved.output });
    io.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    expect((await reserved.answer(1)).result).toBeDefined();
    expect(io.out()).toBe('');
    io.stdin.end();
    await done;
  });

  it('ends on a signal, and at once on a second one', async () => {
    const { io, done } = start(['--config', config]);
    await expect.poll(io.listeners).toBe(1);
    io.signal('SIGTERM');
    io.signal('SIGTERM');
    expect(io.exits).toEqual([130]);
    expect(await done).toBe(0);
  });

  it('reloads when its file changes, if told to watch', async () => {
    const { io, done } = start(['--config', config, '--watch', '--log-level', 'info']);
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'list_mcp_servers', arguments: {} } };
    io.stdin.write(`${JSON.stringify(INITIALIZE)}\n${JSON.stringify(list)}\n`);
    // A file that changes before it was read is read as it is.
    await expect.poll(io.out).toContain('"id":2');
    write({ servers: [] });
    await expect.poll(io.err).toContain('the configuration was reloaded');
    io.stdin.end();
    expect(await done).toBe(0);
  });

  it('shows one server as it is with --expose', async () => {
    const { io, done } = start(['--config', config, '--expose', 'echo']);
    io.stdin.write(
      `${JSON.stringify(INITIALIZE)}\n${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`,
    );
    await expect.poll(io.out).toContain('"name":"echo"');
    expect(io.out()).not.toContain('search_tools');
    io.stdin.end();
    await done;
  });
});

describe('serve on HTTP', () => {
  it('listens where it says, until a signal comes', async () => {
    const { io, done } = start(['--config', config, '--http', '0']);
    await expect.poll(io.err).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+\/mcp/);
    const client = sdkClient('modern');
    const url = /http:\S+/.exec(io.err())?.[0] ?? '';
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    expect((await client.listTools()).tools).toHaveLength(5);
    await client.close();
    const second = start(['--config', config, '--http', new URL(url).port]);
    expect(await second.done).toBe(3);
    expect(second.io.err()).toMatch(
      /cannot listen on port \d+: another program uses it\. Take another one with --port\./,
    );
    io.signal('SIGINT');
    expect(await done).toBe(0);
  });
});

describe('serve on HTTP for others', () => {
  const home = () => join(folder.path, 'home');

  it('takes the port as an option of its own, and says how to get in', async () => {
    await new StaticTokens(home()).create({ expiresAt: Date.now() + 60_000 });
    const { io, done } = start(['--config', config, '--http', '--port', '0', '--host', '0.0.0.0', '--access-log', '-']);
    await expect
      .poll(io.err)
      .toMatch(
        /listening on http:\/\/localhost:\d+\/mcp and every other address of this machine\n.*Authorization: Bearer <token>.*\n.*HTTPS/,
      );
    const url = /http:\S+/.exec(io.err())?.[0] ?? '';
    expect((await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' } })).status).toBe(401);
    await expect.poll(io.err).toMatch(/\{"time":.*"status":401/);
    io.signal('SIGTERM');
    expect(await done).toBe(0);
  });

  it('says that every token is refused while their file cannot be read', async () => {
    mkdirSync(home(), { recursive: true });
    writeFileSync(join(home(), 'tokens.json'), '{ nope');
    const { io, done } = start(['--config', config, '--http', '0']);
    await expect.poll(io.err).toMatch(/tokens\.json cannot be read\.[\s\S]*every token is refused/);
    io.signal('SIGTERM');
    expect(await done).toBe(0);
  });

  it.each([
    [['--http', '0', '--host', '0.0.0.0'], 2, 'anygpt mcp token create'],
    [['--http', '0', '--allowed-host', 'tools.example.com'], 2, 'anygpt mcp token create'],
    [['--host', '0.0.0.0'], 1, '--host needs --http'],
    [['--http', 'x'], 1, 'a port number'],
    [['--http', '1', '--port', '2'], 1, 'different ports'],
    [['--http', '0', '--tls-cert', 'x'], 1, 'belong together'],
    [['--http', '0', '--tls-cert', 'x', '--tls-key', 'y'], 1, 'ENOENT'],
    [['--http', '0', '--allowed-origin', 'https://app.example/'], 1, 'https://app.example.com'],
    [['--http', '0', '--allowed-host', 'http://x'], 1, 'tools.example.com'],
    [['--http', '0', '--trusted-proxy', '10.0.0.0/33'], 1, '10.0.0.0/8'],
  ])('does not start with %j', async (argv, code, said) => {
    const { io, done } = start(['--config', config, ...argv]);
    expect(await done).toBe(code);
    expect(io.err()).toContain(said);
  });

  it('does not start with files that are no certificate and key', async () => {
    const { io, done } = start(['--config', config, '--http', '0', '--tls-cert', config, '--tls-key', config]);
    expect(await done).toBe(1);
    expect(io.err()).toContain('--tls-cert and --tls-key must be a certificate and its key');
  });

  it('10. does not start with an identity provider but without an audience', async () => {
    config = write({ servers: [], auth: { issuer: 'https://login.example.com' } });
    const { io, done } = start(['--config', config, '--http', '0']);
    expect(await done).toBe(2);
    expect(io.err()).toContain('auth.audience');
  });
});

describe('what keeps serve from starting', () => {
  it('is an unknown server to expose, exit code 2', async () => {
    const { io, done } = start(['--config', config, '--expose', 'nobody']);
    expect(await done).toBe(2);
    expect(io.err()).toContain('Unknown server "nobody". Servers: echo.');
  });
});
