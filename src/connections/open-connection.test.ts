import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  local,
  openOptions,
  remote,
  script,
  sdkServer,
  serve,
  sseServer,
  toolCall,
} from '../../test/fixtures/connections/harness.ts';
import { evil, evilHttp } from '../../test/fixtures/evil.ts';
import type { DiscoveryError } from '../core/errors.ts';
import type { ServerDefinition } from '../core/types.ts';
import { serverVariable } from '../text/server-variable.ts';
import { type OpenedConnection, type OpenOptions, openConnection } from './open-connection.ts';

const open = (definition: ServerDefinition, options: Partial<OpenOptions> = {}) =>
  openConnection(definition, openOptions(options));

/** Opens, looks, closes. */
async function whileOpen<T>(
  definition: ServerDefinition,
  options: Partial<OpenOptions>,
  look: (opened: OpenedConnection) => Promise<T> | T,
): Promise<T> {
  const opened = await open(definition, options);
  try {
    return await look(opened);
  } finally {
    await opened.connection.close();
  }
}

const failure = (definition: ServerDefinition, options: Partial<OpenOptions> = {}): Promise<DiscoveryError> =>
  open(definition, options).then(
    async ({ connection }) => {
      await connection.close();
      throw new Error('it opened');
    },
    (error) => error,
  );

describe('a local server', () => {
  it('of the old protocol is greeted with initialize', async () => {
    using server = evil({ name: 'old', era: 'legacy', instructions: 'Be kind.' });
    await whileOpen(local(server.command, server.args), { capabilities: { roots: {} } }, async (opened) => {
      expect(opened.verdict).toEqual({ era: 'legacy', transport: 'stdio' });
      expect(opened.connection.identity).toMatchObject({
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'old' },
        instructions: 'Be kind.',
      });
      expect(await opened.connection.callTool(...toolCall('echo', { text: 'hi' }))).toMatchObject({ content: [{}] });
    });
    const [hello] = server.received('initialize');
    expect(hello?.frame?.params).toMatchObject({ capabilities: { roots: {} }, clientInfo: { name: 'test' } });
    expect(server.received('notifications/initialized')).toHaveLength(1);
    expect(server.received('server/discover')).toHaveLength(0);
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'of revision %s is understood',
    async (protocolVersion) => {
      using server = evil({ era: 'legacy', protocolVersion });
      await whileOpen(local(server.command, server.args), {}, ({ connection }) =>
        expect(connection.identity.protocolVersion).toBe(protocolVersion),
      );
    },
  );

  it('of protocol 2026-07-28 only is found out, and remembered next time', async () => {
    await whileOpen(script('modern-stdio.mjs'), {}, async ({ connection, verdict }) => {
      expect(verdict).toEqual({ era: 'modern', transport: 'stdio' });
      expect(connection.identity).toMatchObject({ serverInfo: { name: 'modern' }, instructions: 'Hi.' });
      expect(await connection.callTool(...toolCall('echo', { a: 1 }))).toMatchObject({
        content: [{ text: '{"a":1}' }],
      });
    });
    using server = evil({ era: 'modern' });
    await whileOpen(local(server.command, server.args), { prior: { era: 'modern', transport: 'stdio' } }, () => {});
    expect(server.received('initialize')).toHaveLength(0);
    expect(server.received('server/discover')).toHaveLength(1);
  });

  it('that went back to the old protocol is greeted all the same', async () => {
    using server = evil({ era: 'legacy' });
    await whileOpen(
      local(server.command, server.args),
      { prior: { era: 'modern', transport: 'stdio' } },
      ({ verdict }) => expect(verdict.era).toBe('legacy'),
    );
  });

  it('that does not exist is named', async () => {
    expect(await failure(local('/no/such/command'))).toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: expect.stringContaining('"/no/such/command" was not found (ENOENT)'),
      details: { server: 'local', outcome: 'not_sent', retryable: false },
    });
    expect((await failure(local("sh -c 'touch /tmp/pwn'"))).message).toContain('ENOENT');
    expect((await failure(local('sh', [], { cwd: '/no/such/folder' }))).message).toContain(
      '/no/such/folder does not exist',
    );
    expect(await failure(local(fileURLToPath(new URL('../../README.md', import.meta.url))))).toMatchObject({
      message: expect.stringContaining('may not be executed'),
      details: { retryable: false },
    });
  });

  it('that exits at once is quoted', async () => {
    const broken = 'console.error("\\u001b[31mError:\\u001b[0m API_KEY is missing"); process.exit(1)';
    const error = await failure(local(process.execPath, ['-e', broken]));
    expect(error.message).toBe(
      'local could not be started: it exited with code 1 during the MCP handshake. Its last words: Error: API_KEY is missing.',
    );
    expect(error.toInfo()).toMatchObject({ retryable: false, outcome: 'not_sent' });
    expect((await failure(local(process.execPath, ['/no/such/server.js']))).message).toMatch(
      /Its last words: Error: Cannot find module '\/no\/such\/server\.js'\.$/,
    );
  });

  it('that stays silent is given up after the configured time, and ended', async () => {
    using server = evil({ on: [{ method: 'initialize', do: [] }] });
    const error = await failure(local(server.command, server.args, { connect: 700 }));
    expect(error).toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: expect.stringContaining('no answer within 0.7 s'),
    });
    await expect.poll(() => server.journal().some(({ event }) => event === 'exit'), { timeout: 5000 }).toBe(true);
  });

  it.each([
    ['a version nobody knows', [{ result: { protocolVersion: '1999-01-01', capabilities: {} } }], /1999-01-01/],
    ['no version', [{ result: {} }], /null, which is not supported/],
    ['an error to every greeting', [{ error: { code: -32603, message: 'database is down' } }], /database is down/],
  ])('that answers with %s is refused', async (_, steps, message) => {
    using server = evil({
      on: [
        { method: 'initialize', do: steps },
        { method: 'server/discover', do: [{ error: { code: -32601, message: 'what?' } }] },
      ],
    });
    expect((await failure(local(server.command, server.args))).message).toMatch(message);
  });

  it('is not even started for a caller that has gone', async () => {
    using server = evil();
    const error = await failure(local(server.command, server.args), { signal: AbortSignal.abort() });
    expect(error).toMatchObject({ code: 'CANCELLED', details: { outcome: 'not_sent' } });
    expect(server.journal()).toEqual([]);
  });

  it('is ended when the caller goes while it starts', async () => {
    using server = evil({ on: [{ method: 'initialize', do: [] }] });
    const controller = new AbortController();
    const opening = failure(local(server.command, server.args), { signal: controller.signal });
    await expect.poll(() => server.received('initialize').length).toBe(1);
    controller.abort();
    expect(await opening).toMatchObject({ code: 'CANCELLED' });
    await expect.poll(() => server.journal().some(({ event }) => event === 'exit'), { timeout: 5000 }).toBe(true);
  });

  it('cannot be configured with NUL characters', async () => {
    const error = await failure(local('node', ['a\0b']));
    expect(error).toMatchObject({ code: 'CONFIGURATION_ERROR', message: expect.stringContaining('test.json') });
  });

  it('gets references filled in, and sees nothing of ours that is not its own', async () => {
    using server = evil({ start: [{ do: [{ dumpEnv: true }] }] });
    const expand = (value: string) => value.replace('${NAME}', 'filled');
    const env = { PATH: process.env.PATH, LANG: 'C', OPENAI_API_KEY: 'canary', NODE_OPTIONS: '--require ./evil.js' };
    const definition = local(server.command, [...server.args, '${NAME}'], { env: { TOKEN: 'x-${NAME}' } });
    await whileOpen(definition, { env, expand }, () => {});
    const journal = server.journal();
    expect(journal.find(({ event }) => event === 'start')?.argv).toContain('filled');
    expect(journal.find(({ event }) => event === 'env')?.env).toEqual({
      PATH: env.PATH,
      LANG: 'C',
      TOKEN: 'x-filled',
    });
  });

  it('tells when it goes away, how, and what it said besides', async () => {
    using server = evil({
      on: [
        { method: 'notifications/initialized', do: [{ notify: { method: 'notifications/tools/list_changed' } }] },
        { method: 'tools/call', do: [{ exit: 7 }] },
      ],
    });
    const heard: string[] = [];
    const closed = new Promise<Error>((resolve) => {
      void open(local(server.command, server.args), { onClose: resolve, onNotification: (m) => heard.push(m) }).then(
        async ({ connection }) => {
          connection.onNotification = (method) => heard.push(`own ${method}`);
          await connection.request('ping', {});
          await connection.callTool(...toolCall('echo')).catch(() => {});
        },
      );
    });
    expect((await closed).message).toBe('it exited with code 7');
    expect(heard).toContain('notifications/tools/list_changed');
  });
});

describe('a remote server', () => {
  it('of protocol 2026-07-28 is greeted in the new way', async () => {
    await using server = await sdkServer();
    await reaching(server.url, {}, async ({ connection, verdict }) => {
      expect(verdict).toEqual({ era: 'modern', transport: 'http' });
      expect(connection.identity.serverInfo).toMatchObject({ name: 'sdk' });
      expect((await connection.listTools()).tools).toHaveLength(1);
    });
  });

  it('of the old protocol gets a session, which is ended at the end', async () => {
    const methods: string[] = [];
    await using server = await sdkServer({ era: 'legacy', seen: ({ method }) => methods.push(method) });
    await reaching(server.url, {}, async ({ connection, verdict }) => {
      expect(verdict).toEqual({ era: 'legacy', transport: 'http' });
      const result = await connection.callTool(...toolCall('echo', { a: 1 }));
      expect(result).toMatchObject({ content: [{ text: '{"a":1}' }] });
    });
    expect(methods).toContain('DELETE');
  });

  it.each(['legacy', 'modern', 'both'] as const)(
    'of era %s without the SDK works too, and with what is known of it',
    async (era) => {
      await using server = await evilHttp({ era });
      const found = await reaching(`${server.origin}/mcp`, {}, ({ verdict }) => verdict);
      expect(found).toEqual({ era: era === 'legacy' ? 'legacy' : 'modern', transport: 'http' });
      const before = server.journal().length;
      await reaching(`${server.origin}/mcp`, { prior: found }, ({ verdict }) => expect(verdict).toEqual(found));
      const greetings = server
        .journal()
        .slice(before)
        .map(({ frame }) => frame?.method);
      expect(greetings.includes('initialize')).toBe(era === 'legacy');
      expect(greetings.includes('server/discover')).toBe(era !== 'legacy');
    },
  );

  it('that has moved on from what is known of it is found all the same', async () => {
    await using modern = await evilHttp({ era: 'modern' });
    const legacyPrior = { era: 'legacy', transport: 'http' } as const;
    await reaching(`${modern.origin}/mcp`, { prior: legacyPrior }, ({ verdict }) => expect(verdict.era).toBe('modern'));
    await using legacy = await evilHttp({ era: 'legacy', transports: ['streamable'] });
    for (const prior of [{ era: 'modern', transport: 'http' } as const, { era: 'legacy', transport: 'sse' } as const]) {
      await reaching(`${legacy.origin}/mcp`, { prior }, ({ verdict }) => expect(verdict).toEqual(legacyPrior));
    }
  });

  it('that is configured as legacy SSE is found after an upgrade to protocol 2026-07-28 only', async () => {
    await using upgraded = await sdkServer();
    const found = { era: 'modern', transport: 'http' };
    await whileOpen(remote(upgraded.url, { type: 'sse' }), {}, ({ verdict }) => expect(verdict).toEqual(found));
  });

  it('that speaks nothing but SSE is reached by falling back, or at once where that is known', async () => {
    await using server = await sseServer();
    for (const options of [{}, { prior: { era: 'legacy', transport: 'sse' } as const }]) {
      await reaching(server.url, options, async ({ connection, verdict }) => {
        expect(verdict).toEqual({ era: 'legacy', transport: 'sse' });
        expect(await connection.listTools()).toMatchObject({ tools: [], incomplete: undefined });
      });
    }
    await whileOpen(remote(server.url, { type: 'sse' }), {}, ({ verdict }) => expect(verdict.transport).toBe('sse'));
    expect(server.requests.filter((request) => request === 'POST /sse')).toHaveLength(2);
    await using evil = await evilHttp({ transports: ['sse'], era: 'legacy' });
    await whileOpen(remote(`${evil.origin}/sse`, { type: 'sse' }), {}, async ({ connection }) =>
      expect(await connection.callTool(...toolCall('echo', { text: 'x' }))).toMatchObject({ content: [{}] }),
    );
  });

  it('that wants a login is not tried in any other way', async () => {
    let hits = 0;
    await using server = await serve((_, response) => {
      hits++;
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    });
    expect(await failure(remote(server.url))).toMatchObject({
      code: 'SERVER_AUTH_REQUIRED',
      details: { retryable: false },
    });
    expect(hits).toBe(1);
    expect(await failure(remote(server.url, { type: 'sse' }))).toMatchObject({ code: 'SERVER_AUTH_REQUIRED' });
  });

  it.each([
    [429, 'RATE_LIMITED'],
    [503, 'SERVER_CONNECTION_ERROR'],
  ])('that answers %i is left alone for as long as it says', async (status, code) => {
    let hits = 0;
    await using server = await serve((_, response) => {
      hits++;
      response.writeHead(status, { 'retry-after': '7' }).end();
    });
    expect(await failure(remote(server.url))).toMatchObject({ code, details: { retryAfterMs: 7000 } });
    expect(hits).toBe(1);
    expect(await failure(remote(server.url, { type: 'sse' }))).toMatchObject({ code, details: { retryAfterMs: 7000 } });
  });

  it('that redirects is not followed, not even on its own origin', async () => {
    let followed = 0;
    await using server = await serve((request, response) => {
      if (request.url !== '/mcp') followed++;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    for (const kind of ['http', 'sse'] as const) {
      expect(await failure(remote(server.url, { type: kind }))).toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
        message: expect.stringContaining('redirects to /elsewhere'),
      });
    }
    expect(followed).toBe(0);
  });

  it('that accepts and never answers is given up after the configured time', async () => {
    await using server = await serve(() => {});
    for (const kind of ['http', 'sse'] as const) {
      const before = Date.now();
      const error = await failure(remote(server.url, { type: kind, connect: 300 }));
      expect(error).toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
        message: expect.stringContaining('no answer within 0.3 s'),
      });
      expect(Date.now() - before).toBeLessThan(5_000);
    }
  });

  it('of the old protocol that never answers a question it does not know is reached all the same', async () => {
    await using server = await evilHttp({ era: 'legacy', on: [{ method: 'server/discover', do: [] }] });
    await whileOpen(remote(`${server.origin}/mcp`, { connect: 500 }), {}, ({ verdict }) =>
      expect(verdict.era).toBe('legacy'),
    );
    await using rude = await evilHttp({ era: 'legacy', on: [{ method: 'server/discover', do: [{ reset: true }] }] });
    await reaching(`${rude.origin}/mcp`, {}, ({ verdict }) => expect(verdict.era).toBe('legacy'));
  });

  it.each([
    ['a page', 200, { 'content-type': 'text/html' }, '<html>', /text\/html/],
    ['not found', 404, { 'content-type': 'text/html' }, '<html>', /it answered HTTP 404\.$/],
    ['a broken server', 500, {}, 'oops', /it answered HTTP 500: oops\.$/],
    ['no JSON', 200, { 'content-type': 'application/json' }, '{', /JSON/],
    ['nothing', 202, {}, '', /without an answer/],
    [
      'an answer for somebody else',
      200,
      { 'content-type': 'application/json' },
      '{"jsonrpc":"2.0","id":99,"result":{}}',
      /without an answer/,
    ],
  ])('that is %s is refused with what it said', async (_, status, headers, body, message) => {
    await using server = await serve((_request, response) => response.writeHead(status, headers).end(body));
    const error = await failure(remote(server.url));
    expect(error.code).toBe('SERVER_CONNECTION_ERROR');
    expect(error.message).toMatch(message);
  });

  it('without a listener was not reached', async () => {
    const server = await serve(() => {});
    await server[Symbol.asyncDispose]();
    for (const kind of ['http', 'sse'] as const) {
      expect(await failure(remote(server.url, { type: kind }))).toMatchObject({
        code: 'SERVER_CONNECTION_ERROR',
        message: expect.stringContaining('ECONNREFUSED'),
        details: { outcome: 'not_sent' },
      });
    }
  });

  it.each(['http://169.254.169.254/x', '//evil.example/x', 'file:///etc/passwd', 'javascript:alert(1)'])(
    'of the SSE kind cannot send us to %s',
    async (sseEndpoint) => {
      await using server = await evilHttp({ transports: ['sse'], sseEndpoint });
      const targets: string[] = [];
      const watching: typeof fetch = (input, init) => {
        targets.push(new URL(input instanceof Request ? input.url : input).origin);
        return fetch(input, init);
      };
      const error = await failure(remote(`${server.origin}/sse`, { type: 'sse' }), { fetch: watching });
      expect(error).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', message: expect.stringMatching(/origin/i) });
      expect(new Set(targets)).toEqual(new Set([server.origin]));
    },
  );

  it('whose answer is a bomb costs no memory', async () => {
    const bomb = { http: { headers: { 'content-type': 'application/json' }, gzipZeros: 256 * 2 ** 20 } };
    await using server = await evilHttp({ on: [{ method: 'tools/call', do: [bomb] }] });
    await reaching(`${server.origin}/mcp`, {}, async ({ connection }) => {
      const before = process.memoryUsage().rss;
      await expect(connection.callTool(...toolCall('echo'))).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
      expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(128);
      expect((await connection.listTools()).tools).toHaveLength(1);
    });
  });

  it('gets its headers and token, and messages never hold them', async () => {
    const seen: (string | undefined)[][] = [];
    await using server = await serve(({ headers }, response) => {
      seen.push([headers.authorization, headers['x-key'] as string]);
      response.writeHead(500).end();
    });
    const url = server.url.replace('//', '//user:p%40ss@');
    const expand = (value: string) => value.replace('${KEY}', 'k-1');
    await failure(remote(server.url, { headers: { 'X-Key': '${KEY}' }, auth: 'env' }), {
      expand,
      env: { REMOTE_MCP_TOKEN: 'mine', MCP_AUTH_TOKEN: 'any' },
    });
    expect(seen[0]).toEqual(['Bearer mine', 'k-1']);
    await failure(remote(server.url, { auth: 'env' }), { env: { MCP_AUTH_TOKEN: 'any' } });
    expect(seen.at(-1)?.[0]).toBe('Bearer any');
    await failure(remote(server.url), { env: { MCP_AUTH_TOKEN: 'any' } });
    expect(seen.at(-1)?.[0]).toBeUndefined();
    await failure(remote(url));
    expect(seen.at(-1)?.[0]).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  });

  it.each([
    [{ headers: { 'X-Key': 'canary\nsecret' } }, 'header "X-Key"'],
    [{ headers: { 'X Key': 'canary' } }, 'header "X Key"'],
    [{ url: 'canary' }, 'not a valid address'],
    [{ url: 'file:///canary' }, 'http:// or https://'],
    [{ url: 'http://u:%E0%canary@127.0.0.1/' }, '% escape'],
  ])('that is configured with %j is a mistake that is named without the value', async (connection, message) => {
    const error = await failure(remote('http://127.0.0.1/', connection));
    expect(error).toMatchObject({ code: 'CONFIGURATION_ERROR', message: expect.stringContaining(message) });
    expect(`${error.message}${error.stack}${JSON.stringify(error.toInfo())}`).not.toContain('canary');
    expect(error.cause).toBeUndefined();
  });
});

it('makes the name of a variable from the name of a server', () => {
  expect(serverVariable('my-server.2 ä', 'MCP_TOKEN')).toBe('MY_SERVER_2___MCP_TOKEN');
});

function reaching<T>(
  url: string,
  options: Partial<OpenOptions>,
  look: (opened: OpenedConnection) => Promise<T> | T,
): Promise<T> {
  return whileOpen(remote(url), options, look);
}
