import { createServer as createTcpServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/fixtures/connections/harness.ts';
import { guardedFetch, retryAfter } from './guarded-fetch.ts';
import { httpRefusal } from './http-refusal.ts';

const get = (url: string, maxMessageBytes = 1000) => guardedFetch({ server: 's', maxMessageBytes })(url);

describe('retryAfter', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['120', 60_000],
    ['7', 7000],
    [' 7 ', 7000],
    ['0', undefined],
    ['-1', undefined],
    ['1e9', undefined],
    ['1, 2', undefined],
    ['', undefined],
    [null, undefined],
    ['soon', undefined],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Thu, 01 Jan 2032 00:00:05 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', undefined],
  ])('reads %j as %s', (header, ms) => {
    expect(retryAfter(header, now)).toBe(ms);
  });
});

describe('guardedFetch', () => {
  it.each([
    [401, {}, { code: 'SERVER_AUTH_REQUIRED', details: { outcome: 'unknown', retryable: false } }],
    [403, { 'www-authenticate': 'Bearer' }, { code: 'SERVER_AUTH_REQUIRED' }],
    [429, { 'retry-after': '2' }, { code: 'RATE_LIMITED', details: { retryAfterMs: 2000 } }],
    [
      502,
      {},
      {
        code: 'SERVER_CONNECTION_ERROR',
        message: expect.stringContaining('HTTP 502'),
        details: { outcome: 'unknown' },
      },
    ],
    [504, { 'retry-after': '1' }, { code: 'SERVER_CONNECTION_ERROR', details: { retryAfterMs: 1000 } }],
    [
      503,
      { 'retry-after': 'x' },
      { code: 'SERVER_CONNECTION_ERROR', details: { outcome: 'unknown', retryAfterMs: undefined } },
    ],
    [302, { location: 'http://169.254.169.254/' }, { code: 'SERVER_CONNECTION_ERROR', details: { retryable: false } }],
    [308, { location: '/mcp/' }, { code: 'SERVER_CONNECTION_ERROR', message: expect.stringContaining('/mcp/') }],
  ])('turns HTTP %i into an error of ours', async (status, headers, error) => {
    let hits = 0;
    await using server = await serve((_, response) => {
      hits++;
      response.writeHead(status, headers as Record<string, string>).end('x'.repeat(10_000));
    });
    await expect(get(server.url)).rejects.toMatchObject(error);
    expect(hits).toBe(1);
  });

  it('lets everything else through', async () => {
    await using server = await serve((_, response) => response.writeHead(403).end('no'));
    const response = await get(server.url);
    expect([response.status, await response.text()]).toEqual([403, 'no']);
    await using empty = await serve((_, response) => response.writeHead(204).end());
    expect((await get(empty.url)).body).toBeNull();
  });

  it('says that a request was not sent when nothing listens', async () => {
    const server = await serve(() => {});
    await server[Symbol.asyncDispose]();
    await expect(get(server.url)).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: expect.stringContaining('ECONNREFUSED'),
      details: { outcome: 'not_sent' },
    });
  });

  it('does not know the outcome of a request that was cut off, before and during the answer', async () => {
    const tcp = createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as { port: number };
    await expect(get(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ details: { outcome: 'unknown' } });
    tcp.close();
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 10);
    });
    const failures: unknown[] = [];
    const fetched = await guardedFetch({ server: 's', maxMessageBytes: 1000 })(server.url, {}, (e) => failures.push(e));
    await expect(fetched.text()).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_ERROR',
      message: expect.stringContaining('broke off'),
      details: { outcome: 'unknown' },
    });
    expect(failures).toHaveLength(1);
  });

  it('passes an abort on as it is', async () => {
    await using server = await serve(() => {});
    const controller = new AbortController();
    const fetched = guardedFetch({ server: 's', maxMessageBytes: 10 })(server.url, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(fetched).rejects.toThrow('enough');
  });

  it('stops reading a body that is too long', async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(65_536), () => setImmediate(more));
      };
      more();
    });
    const response = await get(server.url, 100_000);
    await expect(response.text()).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE', details: { outcome: 'unknown' } });
  });
});

describe('an event stream', () => {
  const body = (chunks: readonly string[]) =>
    guardedFetch({
      server: 's',
      maxMessageBytes: 100,
      fetch: async () =>
        new Response(
          new ReadableStream({
            start(controller) {
              for (const chunk of chunks) if (chunk) controller.enqueue(new TextEncoder().encode(chunk));
              controller.close();
            },
          }),
          { headers: { 'content-type': 'text/event-stream; charset=utf-8' } },
        ),
    })('http://x/').then((response) => response.text());

  it('may go on for ever as long as each event is short, however it is cut and whatever ends its lines', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = `data: ${'x'.repeat(60)}${end}${end}`.repeat(20);
      expect(await body([...text])).toBe(text);
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(fc.nat(text.length)), async (cuts) => {
          const at = cuts.sort((a, b) => a - b);
          expect(await body([0, ...at].map((start, i) => text.slice(start, at[i])))).toBe(text);
        }),
        { numRuns: 30 },
      );
    }
  });

  it('loses large notifications that are not relayed, and nothing else', async () => {
    const note = (text: string) =>
      `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${text}"}}\n\n`;
    const stream = note('before') + note('x'.repeat(2 ** 20)) + note('after');
    for (const relays of [false, true]) {
      const fetched = await guardedFetch(
        {
          server: 's',
          maxMessageBytes: 2 ** 24,
          fetch: async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
        },
        { relaysNotifications: () => relays },
      )('http://x/');
      expect(await fetched.text()).toBe(relays ? stream : note('before') + note('after'));
    }
  });

  it('ends with an event that is too long', async () => {
    await expect(body(['data: a\n\n', `data: ${'x'.repeat(60)}\n`, `data: ${'x'.repeat(60)}\n`])).rejects.toMatchObject(
      {
        code: 'RESULT_TOO_LARGE',
      },
    );
  });
});

describe('httpRefusal', () => {
  const refusal = (text: string | null, type = 'application/json') =>
    httpRefusal(new Response(text, { status: 404, headers: { 'content-type': type } }), undefined).then(
      ({ error }) => error,
    );

  it('finds the error answer in the body', async () => {
    const error = { code: -32601, message: 'no such method', data: 1 };
    expect(await refusal(JSON.stringify({ jsonrpc: '2.0', id: null, error }))).toMatchObject({
      name: 'JsonRpcError',
      ...error,
    });
    expect(await refusal('{"jsonrpc":"2.0","id":1,"error":{"code":1}}')).toMatchObject({ message: 'unknown error' });
  });

  it.each([
    ['{"error":"Not found"}', 'application/json', 'it answered HTTP 404: {"error":"Not found"}'],
    ['<html>…', 'text/html', 'it answered HTTP 404'],
    [
      '{"jsonrpc":"2.0","id":1,"error":"x"}',
      'text/plain',
      'it answered HTTP 404: {"jsonrpc":"2.0","id":1,"error":"x"}',
    ],
    [null, 'text/plain', 'it answered HTTP 404'],
  ])('otherwise tells the status: %s', async (text, type, message) => {
    expect(await refusal(text, type)).toMatchObject({ name: 'HttpStatusError', status: 404, message });
  });

  it('reads no more than it needs, and survives a body that breaks off', async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(16_384).fill(120));
      },
    });
    expect((await httpRefusal(new Response(endless, { status: 500 }), undefined)).error.message.length).toBeLessThan(
      300,
    );
    expect(pulled).toBeLessThan(10);
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error('reset')) });
    expect((await httpRefusal(new Response(broken, { status: 500 }), undefined)).error).toMatchObject({ status: 500 });
  });

  it('does not wait for the end of a body that drips', async () => {
    await using server = await serve((_, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' });
      const drip = setInterval(() => response.write('x'), 50);
      response.once('close', () => clearInterval(drip));
    });
    const response = await guardedFetch({ server: 's', maxMessageBytes: 1000 })(server.url);
    const { error } = await httpRefusal(response, undefined);
    expect(error).toMatchObject({ status: 500, message: expect.stringContaining('xx') });
  });
});

describe('an answer with many values', () => {
  const names = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i])));
  const fetched = (body: string, type: string) =>
    guardedFetch({
      server: 's',
      maxMessageBytes: 16 * 2 ** 20,
      fetch: async () => new Response(body, { headers: { 'content-type': type } }),
    })('http://x/');

  it('is refused before it is parsed, as JSON and as an event', async () => {
    const message = `{"jsonrpc":"2.0","id":1,"result":${names(100_000)}}`;
    const refusal = { code: 'RESULT_TOO_LARGE', message: expect.stringContaining('50000 names') };
    const json = await fetched(message, 'application/json');
    await expect(json.json()).rejects.toMatchObject(refusal);
    const events = await fetched(`data: {"jsonrpc":"2.0"}\n\ndata: ${message}\n\n`, 'text/event-stream');
    await expect(events.text()).rejects.toMatchObject(refusal);
  });

  it('is read if it is large and within the limits', async () => {
    const message = JSON.stringify({ rows: Array(40_000).fill({ id: 1, name: 'a name', text: 'some text' }) });
    expect(message.length).toBeGreaterThan(2 ** 20);
    expect(await (await fetched(message, 'application/json')).json()).toEqual(JSON.parse(message));
    expect(await (await fetched(`data: ${message}\n\n`, 'text/event-stream')).text()).toBe(`data: ${message}\n\n`);
  });

  it('is refused as a batch of many messages', async () => {
    const batch = JSON.stringify(Array(100).fill({ jsonrpc: '2.0', method: 'ping', id: 1 }));
    await expect((await fetched(batch, 'application/json')).json()).rejects.toThrow('batch');
  });
});
