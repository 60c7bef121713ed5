import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeIo, fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { rawClient, sdkClient, tempFolder } from '../../../test/fixtures/gateway/kit.ts';
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
    await expect.poll(io.listeners).toBe(1);
    write({ servers: [] });
    await expect.poll(io.err, { timeout: 5000 }).toContain('the configuration was reloaded');
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
    expect(second.io.err()).toMatch(/cannot listen on port \d+/);
    io.signal('SIGINT');
    expect(await done).toBe(0);
  });
});

describe('what keeps serve from starting', () => {
  it('is an unknown server to expose, exit code 2', async () => {
    const { io, done } = start(['--config', config, '--expose', 'nobody']);
    expect(await done).toBe(2);
    expect(io.err()).toContain('Unknown server "nobody". Servers: echo.');
  });
});
