import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { LoopShare } from '../loop-share.ts';
import { httpFetch, type PacedInit } from './http-fetch.ts';

const serve = async (listener: RequestListener) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** A server that answers every connection with these bytes. */
const raw = async (bytes: string) => {
  const server = createSocketServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
};

it('sends method, headers and body, and gives back status, headers and body', async () => {
  await using server = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    response.setHeader(
      'x-seen',
      `${request.method} ${request.headers.authorization} ${request.headers['content-length']}`,
    );
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.statusCode = 201;
    response.end(body.toUpperCase());
  });
  const response = await httpFetch(server.url, { method: 'POST', headers: { Authorization: 'x' }, body: 'grüße' });
  expect(response.status).toBe(201);
  expect(response.headers.get('x-seen')).toBe('POST x 7');
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await response.text()).toBe('GRÜSSE');
});

it('reuses a connection, follows no redirect, and accepts an answer without a body', async () => {
  const sockets = new Set<unknown>();
  await using server = await serve((request, response) => {
    sockets.add(request.socket);
    if (request.url === '/moved') response.writeHead(302, { location: '/' }).end();
    else response.writeHead(204).end();
  });
  for (let round = 0; round < 3; round++) expect((await httpFetch(server.url)).body).toBeNull();
  const moved = await httpFetch(new URL('moved', server.url));
  expect([moved.status, moved.headers.get('location')]).toEqual([302, '/']);
  await moved.text();
  expect(sockets.size).toBe(1);
});

it('unpacks compressed bodies, and fails on those that only claim to be', async () => {
  await using server = await serve((request, response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(request.url === '/broken' ? 'not packed' : gzipSync('packed'));
  });
  expect(await (await httpFetch(server.url)).text()).toBe('packed');
  const broken = await httpFetch(`${server.url}broken`);
  await expect(broken.text()).rejects.toThrow();
});

it('reads one-byte chunks that arrive together as one, and charges the server for them', async () => {
  const chunked = (chunk: string, count: number) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(count)}0\r\n\r\n`;
  for (const [chunk, count, isFlood] of [
    ['1\r\nx\r\n', 20_000, true],
    ['5\r\nhello\r\n', 4, false],
  ] as const) {
    await using server = await raw(chunked(chunk, count));
    const share = new LoopShare({ credit: 5, share: 0.08, longestRest: 1, now: () => 0 });
    const init: PacedInit = { share };
    const { body } = await httpFetch(server.url, init);
    const parts = [];
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) parts.push(part);
    expect(Buffer.concat(parts).length).toBe(count * (isFlood ? 1 : 5));
    expect(parts.length).toBeLessThan(100);
    expect(share.charge(0) > 0).toBe(isFlood);
  }
});

it('reuses a connection although a short answer was never read', async () => {
  const sockets = new Set<unknown>();
  await using server = await serve((request, response) => {
    sockets.add(request.socket);
    response.end('short');
  });
  for (let round = 0; round < 3; round++) {
    await httpFetch(server.url);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(sockets.size).toBe(1);
});

it('ends with the reason of the signal, before, while waiting and while reading', async () => {
  await using server = await serve((request, response) => {
    if (request.url === '/body') response.write('first');
  });
  const reason = new Error('enough');
  await expect(httpFetch(server.url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const waiting = new AbortController();
  const answer = httpFetch(server.url, { signal: waiting.signal });
  setImmediate(() => waiting.abort(reason));
  await expect(answer).rejects.toBe(reason);
  const reading = new AbortController();
  const response = await httpFetch(`${server.url}body`, { signal: reading.signal });
  const text = response.text();
  reading.abort(reason);
  await expect(text).rejects.toThrow();
});

it.each([
  ['a status that does not exist', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['nothing', ''],
])('rejects %s', async (_what, bytes) => {
  await using server = await raw(bytes);
  await expect(httpFetch(server.url)).rejects.toBeInstanceOf(Error);
});

it('rejects an address without a listener, and a protocol it does not speak', async () => {
  await expect(httpFetch('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await expect(httpFetch('ftp://127.0.0.1/')).rejects.toBeInstanceOf(Error);
});
