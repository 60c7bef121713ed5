import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  openOptions,
  remote,
  sdkServer,
  serve,
  sseServer,
  toolCall,
} from '../../../test/fixtures/connections/harness.ts';
import { evilHttp } from '../../../test/fixtures/evil.ts';
import { UnheededError } from '../../core/result.ts';
import { openConnection } from '../open-connection.ts';
import type { OpenOptions } from '../open-options.ts';

/** Opens a connection and counts how often it ended. */
async function open(url: string, options: Partial<OpenOptions> = {}, type: 'http' | 'sse' = 'http') {
  const ends: Error[] = [];
  const onClose = (reason: Error) => ends.push(reason);
  const { connection } = await openConnection(remote(url, { type }), openOptions({ ...options, onClose }));
  return { connection, ends, [Symbol.asyncDispose]: () => connection.close() };
}

const small = { limits: { ...openOptions().limits, messageBytes: 10_000 } };
const started = (response: { writeHead: (status: number, headers: Record<string, string>) => unknown }) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });

describe('Streamable HTTP', () => {
  it('counts as closed when the server has forgotten the session, and the call may be made once more', async () => {
    await using server = await sdkServer({ era: 'legacy' });
    await using old = await open(server.url);
    await old.connection.callTool(...toolCall('echo'));
    server.forgetSessions();
    await expect(old.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: expect.stringContaining('ended the session'),
      details: { outcome: 'unknown', cause: expect.any(UnheededError) },
    });
    await expect.poll(() => old.ends).toHaveLength(1);
    expect(old.connection.closed).toBe(true);
    await using anew = await open(server.url);
    expect(await anew.connection.callTool(...toolCall('echo', { a: 1 }))).toMatchObject({ content: [{}] });
  });

  it('does not know the outcome of a call on a session that is forgotten a moment after it was made', async () => {
    await using server = await sdkServer({ era: 'legacy' });
    await using old = await open(server.url);
    await old.connection.listTools();
    server.forgetSessions();
    await expect(old.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      details: { outcome: 'unknown' },
    });
    expect(old.connection.closed).toBe(true);
  });

  it('continues if only calls are refused with the words of a forgotten session', async () => {
    const refuse = { http: { status: 404, body: 'Session not found' } };
    await using server = await evilHttp({ era: 'legacy', on: [{ method: 'tools/call', nth: 2, do: [refuse] }] });
    await using old = await open(`${server.origin}/mcp`);
    await old.connection.callTool(...toolCall('echo', { text: 'x' }));
    await expect(old.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      details: { outcome: 'unknown' },
    });
    expect(old.connection.closed).toBe(false);
    expect(await old.connection.callTool(...toolCall('echo', { text: 'x' }))).toMatchObject({ content: [{}] });
  });

  it('counts as closed also where that is said with a 400, as the example of the SDK does', async () => {
    const body =
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}';
    const refuse = { http: { status: 400, headers: { 'content-type': 'application/json' }, body } };
    const on = [
      { method: 'tools/call', nth: [2, null] as const, do: [refuse] },
      { method: 'ping', do: [refuse] },
    ];
    await using server = await evilHttp({ era: 'legacy', on });
    await using old = await open(`${server.origin}/mcp`);
    await old.connection.callTool(...toolCall('echo', { text: 'x' }));
    await expect(old.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      details: { outcome: 'unknown', cause: expect.any(UnheededError) },
    });
    await expect.poll(() => old.ends).toHaveLength(1);
  });

  it.each([401, 404, 405, 429, 500, 503])(
    'survives that the stream for notifications is answered with %i',
    async (status) => {
      await using server = await evilHttp({ era: 'legacy', on: [{ method: 'GET', do: [{ http: { status } }] }] });
      await using old = await open(`${server.origin}/mcp`);
      await expect.poll(() => server.journal().filter(({ event }) => event === 'http').length).toBeGreaterThan(0);
      await sleep(30);
      expect(old.connection.closed).toBe(false);
      expect(await old.connection.callTool(...toolCall('echo', { text: 'x' }))).toMatchObject({ content: [{}] });
    },
  );

  it('hears notifications on that stream', async () => {
    const broadcast = { method: 'notifications/tools/list_changed' };
    await using server = await evilHttp({
      era: 'legacy',
      on: [{ method: 'tools/call', do: [{ delay: 100 }, { broadcast }, { default: true }] }],
    });
    const heard: string[] = [];
    await using old = await open(`${server.origin}/mcp`, { onNotification: (method) => heard.push(method) });
    await old.connection.callTool(...toolCall('echo'));
    await expect.poll(() => heard).toEqual(['notifications/tools/list_changed']);
  });

  it.each([
    ['JSON', [{ big: 20_000 }]],
    ['a stream', [{ sse: true }, { big: 20_000 }]],
  ])('says that an answer in %s was too large, and goes on', async (_, steps) => {
    for (const era of ['legacy', 'modern'] as const) {
      await using server = await evilHttp({ era, on: [{ method: 'tools/call', nth: 1, do: steps }] });
      await using opened = await open(`${server.origin}/mcp`, small);
      await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
        code: 'RESULT_TOO_LARGE',
        details: { server: 'remote', outcome: 'unknown' },
      });
      expect(await opened.connection.callTool(...toolCall('echo', { text: 'x' }))).toMatchObject({ content: [{}] });
      expect(server.received('tools/call')).toHaveLength(2);
    }
  });

  it.each([
    ['JSON', []],
    ['a stream', [{ sse: true }]],
  ])('fails only the call whose answer in %s is nested too deep, and goes on', async (_, before) => {
    const structuredContent = JSON.parse('['.repeat(300) + ']'.repeat(300));
    const frame = { jsonrpc: '2.0', id: '$id', result: { content: [], structuredContent } };
    for (const era of ['legacy', 'modern'] as const) {
      await using server = await evilHttp({
        era,
        on: [{ method: 'tools/call', nth: 1, do: [...before, { frame }, { close: true }] }],
      });
      await using opened = await open(`${server.origin}/mcp`);
      await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
        code: 'TOOL_EXECUTION_ERROR',
        message: expect.stringContaining('failed to read'),
        details: { server: 'remote', outcome: 'unknown' },
      });
      expect(await opened.connection.callTool(...toolCall('echo', { text: 'x' }))).toMatchObject({ content: [{}] });
    }
  });

  it('knows that endlessly nested arguments were not sent', async () => {
    const a = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
    await using server = await evilHttp({ era: 'modern' });
    await using opened = await open(`${server.origin}/mcp`);
    await expect(opened.connection.callTool(...toolCall('echo', { a }))).rejects.toMatchObject({
      code: 'TOOL_VALIDATION_ERROR',
      details: { outcome: 'not_sent' },
    });
    expect(server.received('tools/call')).toHaveLength(0);
  });

  it.each([
    ['before the answer', [{ reset: true }]],
    ['in the middle of JSON', [{ raw: '{"jsonrpc"' }, { delay: 20 }, { reset: true }]],
    ['in the middle of a stream', [{ sse: true }, { raw: 'data: {"json' }, { delay: 20 }, { reset: true }]],
    ['politely, without an answer', [{ sse: true }, { close: true }]],
  ])('does not know what became of a call that is cut off %s, and never repeats it', async (_, steps) => {
    for (const era of ['legacy', 'modern'] as const) {
      await using server = await evilHttp({ era, on: [{ method: 'tools/call', do: steps }] });
      await using opened = await open(`${server.origin}/mcp`);
      const error = await opened.connection.callTool(...toolCall('echo')).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', details: { outcome: 'unknown' } });
      expect(server.received('tools/call')).toHaveLength(1);
      expect(opened.connection.closed).toBe(false);
    }
  });

  it('does not resume a stream of a modern server, and resumes one of an old server no sooner than in a second', async () => {
    let gets = 0;
    await using server = await serve((request, response) => {
      if (request.method === 'GET') gets++;
      if (request.method !== 'POST') return void response.writeHead(405).end();
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        const { id, method } = JSON.parse(body) as { id: number; method: string };
        const discovered = { supportedVersions: ['2026-07-28'], capabilities: {} };
        if (method === 'server/discover')
          return response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id, result: discovered }));
        started(response);
        response.end('retry: 0\nid: 1\ndata: \n\n');
      });
    });
    await using modern = await open(server.url);
    const before = Date.now();
    await expect(modern.connection.callTool(...toolCall('x'))).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
    });
    expect(Date.now() - before).toBeLessThan(5_000);
    expect(gets).toBe(0);
  });

  it('takes up a stream of an old server again where it broke off', async () => {
    const times: number[] = [];
    await using server = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (request.method === 'GET') {
          if (!request.headers['last-event-id']) return void response.writeHead(405).end();
          times.push(Date.now());
          started(response);
          return void response.end('data: {"jsonrpc":"2.0","id":3,"result":{"content":[]}}\n\n');
        }
        const { id, method } = JSON.parse(body) as { id?: number; method: string };
        if (id === undefined) return void response.writeHead(202).end();
        if (method === 'server/discover') return void response.writeHead(404).end();
        if (method === 'tools/call') {
          times.push(Date.now());
          started(response);
          return void response.end('retry: 0\nid: e1\ndata: \n\n');
        }
        const result = { protocolVersion: '2025-11-25', capabilities: {}, tools: [] };
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      });
    });
    await using old = await open(server.url);
    await old.connection.listTools();
    expect(await old.connection.callTool(...toolCall('x'))).toEqual({ content: [] });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('keeps error answers that come with a status', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no such thing', data: 5 } });
    for (const [era, status] of [
      ['legacy', 400],
      ['legacy', 500],
      ['modern', 404],
      ['modern', 400],
    ] as const) {
      await using server = await evilHttp({
        era,
        session: false,
        on: [
          { method: 'prompts/list', do: [{ http: { status, headers: { 'content-type': 'application/json' }, body } }] },
        ],
      });
      await using opened = await open(`${server.origin}/mcp`);
      await expect(opened.connection.request('prompts/list', {})).rejects.toMatchObject({
        name: 'JsonRpcError',
        code: -32601,
        data: 5,
      });
    }
  });

  it.each([301, 400, 401, 403, 404, 405, 410, 429, 500, 502, 503, 504])(
    'delivers the result of a call that comes with HTTP %i, as JSON or as an event',
    async (status) => {
      for (const era of ['legacy', 'modern'] as const) {
        for (const type of ['application/json', 'text/event-stream']) {
          await using server = await serve((request, response) => {
            let text = '';
            request.on('data', (chunk) => {
              text += chunk;
            });
            request.on('end', () => {
              const { id, method } = JSON.parse(text || '{}');
              const answer = (result: unknown, code: number, type: string) => {
                const message = JSON.stringify({ jsonrpc: '2.0', id, result });
                response.writeHead(code, { 'content-type': type, 'www-authenticate': 'Bearer' });
                response.end(type === 'application/json' ? message : `event: message\r\ndata: ${message}\r\n\r\n`);
              };
              const capabilities = { tools: {} };
              const serverInfo = { name: 'x', version: '1' };
              if (method === 'tools/call') return answer({ content: [], resultType: 'complete' }, status, type);
              if (method === 'initialize')
                return answer({ protocolVersion: '2025-11-25', capabilities, serverInfo }, 200, 'application/json');
              if (method === 'server/discover' && era === 'modern')
                return answer(
                  { supportedVersions: ['2026-07-28'], capabilities, resultType: 'complete' },
                  200,
                  'application/json',
                );
              response.writeHead(id === undefined ? 202 : 404).end();
            });
          });
          await using opened = await open(server.url);
          expect(await opened.connection.callTool(...toolCall('x'))).toMatchObject({ content: [] });
        }
      }
    },
  );

  it.each([
    ['Bearer error="invalid_token"', 'nothing'],
    ['Negotiate, Bearer realm="x"', 'nothing'],
    ['Basic realm="bearer"', 'nothing'],
    [undefined, 'nothing'],
    ['Bearer', 'a result'],
  ])('after a 401 with the challenge %s and %s in its body, a call has been sent once', async (challenge, body) => {
    for (const status of [401, 403]) {
      const calls: (string | undefined)[] = [];
      await using server = await serve((request, response) => {
        let text = '';
        request.on('data', (chunk) => {
          text += chunk;
        });
        request.on('end', () => {
          const { id, method } = JSON.parse(text || '{}');
          const answer = (code: number, result: unknown) =>
            response
              .writeHead(code, {
                'content-type': 'application/json',
                ...(challenge !== undefined && { 'www-authenticate': challenge }),
              })
              .end(result === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }));
          if (method === 'tools/call') {
            calls.push(request.headers.authorization);
            return answer(status, body === 'a result' ? { content: [] } : undefined);
          }
          if (method === 'initialize')
            return answer(200, {
              protocolVersion: '2025-11-25',
              capabilities: { tools: {} },
              serverInfo: { name: 'x', version: '1' },
            });
          response.writeHead(id === undefined ? 202 : 404).end();
        });
      });
      let token = 0;
      const credentials = {
        authorization: () => `Bearer ${token}`,
        needsProof: () => false,
        refused: async () => {
          token++;
          return 'renewed' as const;
        },
      };
      await using opened = await open(server.url, { credentials });
      const called = opened.connection.callTool(...toolCall('x'));
      if (body === 'a result') expect(await called).toEqual({ content: [] });
      else await expect(called).rejects.toMatchObject({ details: { outcome: 'unknown' } });
      expect(calls).toEqual(['Bearer 0']);
      const isRenewed = body === 'nothing' && (status === 401 || challenge !== undefined);
      expect(token).toBe(isRenewed ? 1 : 0);
    }
  });

  it.each([
    [413, 'unknown', false],
    [500, 'unknown', true],
    [501, 'unknown', true],
  ])('tells of HTTP %i in answer to a call', async (status, outcome, retryable) => {
    await using server = await evilHttp({ on: [{ method: 'tools/call', do: [{ http: { status, body: 'nope' } }] }] });
    await using opened = await open(`${server.origin}/mcp`);
    await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: `remote: it answered HTTP ${status}: nope.`,
      details: { outcome, retryable },
    });
  });

  it('cancels by closing the stream of a modern server, and by saying so to an old one, at once', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      await using server = await evilHttp({
        era,
        on: [{ method: 'tools/call', do: [{ sse: true }, { delay: 5000 }] }],
      });
      await using opened = await open(`${server.origin}/mcp`);
      const controller = new AbortController();
      const call = opened.connection.callTool(...toolCall('echo', {}, { signal: controller.signal }));
      await expect.poll(() => server.received('tools/call').length).toBe(1);
      controller.abort(new Error('enough'));
      await expect(call).rejects.toThrow('enough');
      const aborted = () =>
        server.journal().filter(({ event, http }) => event === 'aborted' && http?.method === 'POST').length;
      await expect.poll(aborted, { timeout: 200, interval: 10 }).toBe(1);
      const [asked] = server.received('tools/call');
      const told = () => server.received('notifications/cancelled').map(({ frame }) => frame?.params?.requestId);
      await expect.poll(told, { timeout: 200, interval: 10 }).toEqual(era === 'legacy' ? [asked?.frame?.id] : []);
    }
  });

  it('sends none of our internal headers', async () => {
    await using server = await evilHttp();
    await using opened = await open(`${server.origin}/mcp`);
    await opened.connection.callTool(...toolCall('echo'));
    const names = server.journal().flatMap(({ http }) => Object.keys(http?.headers ?? {}));
    expect(names).toContain('mcp-method');
    expect(names.filter((name) => name.startsWith('x-'))).toEqual([]);
  });

  it('does not wait for a server that does not answer the end of its session', async () => {
    await using server = await evilHttp({ era: 'legacy', on: [{ method: 'DELETE', do: [{ delay: 20_000 }] }] });
    const { connection } = await open(`${server.origin}/mcp`);
    const before = Date.now();
    await connection.close();
    expect(Date.now() - before).toBeLessThan(10_000);
  });
});

describe('legacy SSE', () => {
  it('ends with its stream, once, and does not come back by itself', async () => {
    await using server = await sseServer((method) => (method === 'tools/call' ? 'nothing' : undefined));
    await using opened = await open(server.url, {}, 'sse');
    const call = opened.connection.callTool(...toolCall('x'));
    await expect.poll(() => server.requests.filter((request) => request.startsWith('POST /messages')).length).toBe(3);
    server.cut();
    await expect(call).rejects.toMatchObject({ code: 'SERVER_CONNECTION_ERROR', details: { outcome: 'unknown' } });
    await sleep(50);
    expect(opened.ends).toHaveLength(1);
    expect(server.opened).toBe(1);
  });

  it('ends with an event that is too long, and ignores what is not a message', async () => {
    await using server = await sseServer();
    await using opened = await open(server.url, small, 'sse');
    server.write(': comment\n\ndata: {}\n\ndata: no json\n\nevent: odd\ndata: x\n\n');
    expect(await opened.connection.listTools()).toMatchObject({ tools: [] });
    server.write(`data: ${'x'.repeat(20_000)}`);
    await expect.poll(() => opened.ends).toHaveLength(1);
    expect(server.opened).toBe(1);
  });

  it('does not follow a server that moves its endpoint to another origin later', async () => {
    await using server = await sseServer();
    await using opened = await open(server.url, {}, 'sse');
    server.write('event: endpoint\ndata: http://169.254.169.254/\n\n');
    await expect.poll(() => opened.ends).toHaveLength(1);
    await expect(opened.connection.listTools()).rejects.toMatchObject({ details: { outcome: 'not_sent' } });
  });

  it('counts as closed when the server has forgotten us', async () => {
    await using server = await evilHttp({ transports: ['sse'] });
    let gone = false;
    const forgetful: typeof fetch = (input, init) =>
      gone && init?.method === 'POST' ? Promise.resolve(new Response(null, { status: 404 })) : fetch(input, init);
    await using opened = await open(`${server.origin}/sse`, { fetch: forgetful }, 'sse');
    await opened.connection.callTool(...toolCall('echo', { text: 'x' }));
    gone = true;
    await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      details: { outcome: 'unknown', cause: expect.any(UnheededError) },
    });
    await expect.poll(() => opened.ends).toHaveLength(1);
  });

  it('delivers the result of a call whose POST broke off', async () => {
    await using server = await evilHttp({ transports: ['sse'] });
    let broken = false;
    const failing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (broken && init?.method === 'POST') throw Object.assign(new TypeError('terminated'), { code: 'ECONNRESET' });
      return response;
    };
    await using opened = await open(`${server.origin}/sse`, { fetch: failing }, 'sse');
    broken = true;
    expect(await opened.connection.callTool(...toolCall('echo', { text: 'x' }))).toMatchObject({ content: [{}] });
  });

  it('tells of a POST that was refused', async () => {
    await using server = await evilHttp({ transports: ['sse'] });
    let broken = false;
    const failing: typeof fetch = (input, init) =>
      broken && init?.method === 'POST' ? Promise.resolve(new Response('nope', { status: 500 })) : fetch(input, init);
    await using opened = await open(`${server.origin}/sse`, { fetch: failing }, 'sse');
    broken = true;
    await expect(opened.connection.callTool(...toolCall('echo'))).rejects.toMatchObject({
      code: 'TOOL_EXECUTION_ERROR',
      message: expect.stringContaining('HTTP 500: nope'),
    });
    expect(opened.connection.closed).toBe(false);
  });
});
