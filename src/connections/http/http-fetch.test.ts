import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { httpFetch } from './http-fetch.ts';

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

it('uses a connection again, follows no redirect, and takes an answer without a body', async () => {
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

it('unpacks what was packed, and fails on what only says so', async () => {
  await using server = await serve((request, response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(request.url === '/broken' ? 'not packed' : gzipSync('packed'));
  });
  expect(await (await httpFetch(server.url)).text()).toBe('packed');
  const broken = await httpFetch(`${server.url}broken`);
  await expect(broken.text()).rejects.toThrow();
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

it('rejects an address nobody listens on, and a protocol it does not speak', async () => {
  await expect(httpFetch('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await expect(httpFetch('ftp://127.0.0.1/')).rejects.toBeInstanceOf(Error);
});
