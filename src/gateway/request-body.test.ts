import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { largeTurns } from '../connections/large-turns.ts';
import { LIMITS } from '../core/limits.ts';
import { ByteRoom } from './byte-room.ts';
import { readRequestBody } from './request-body.ts';
import { RequestTurns } from './request-turns.ts';

const read = (body: unknown) =>
  readRequestBody(
    Object.assign(Readable.from([Buffer.from(JSON.stringify(body))]), { socket: {} }) as unknown as IncomingMessage,
    { room: new ByteRoom(LIMITS.wire.bodies), pieces: new RequestTurns() },
    () => undefined,
  );
const call = (args: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { arguments: args } });

describe('JSON inside a string', () => {
  const turns = vi.spyOn(largeTurns, 'pass');
  afterEach(() => turns.mockClear());
  const many = `{"a":[${'0,'.repeat(20_000)}0]}`;

  it.each<[string, unknown]>([
    ['as arguments', many],
    ['as arguments of a tool', { server: 's', tool: 't', arguments: many }],
    ['wrapped once too often', { server: 's', tool: 't', arguments: { input: many } }],
    ['as a whole call', { params: `{"server":"s","tool":"t","arguments":${many}}` }],
  ])('waits for its turn like any other request with as many values: %s', async (_, args) => {
    const body = call(args);
    expect(await read(body)).toEqual({ value: body });
    expect(turns).toHaveBeenCalledOnce();
    expect(turns.mock.lastCall?.[0]).toBeGreaterThan(50);
  });

  it.each<[string, unknown]>([
    ['a short one', { arguments: '{"a":[1,2,3]}' }],
    ['a long text without any', { arguments: { text: many, input: 'Well, then, so be it. '.repeat(5_000) } }],
    ['one that is refused anyway', { arguments: `{"a":[${'0,'.repeat(60_000)}0]}` }],
  ])('that costs little delays no other request: %s', async (_, args) => {
    await read(call(args));
    expect(turns).not.toHaveBeenCalled();
  });
});

const MIB = 1024 * 1024;

it('keeps nothing of a body that was given up while it waited for its turn to be parsed', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let isFree = false;
  // Another large message has the turn.
  const busy = largeTurns.run(
    (function* () {
      while (!isFree) yield;
    })(),
  );
  const shared = { room: new ByteRoom(8 * MIB), pieces: new RequestTurns() };
  let refused = 0;
  const server = createServer((request, response) => {
    readRequestBody(request, shared, () => undefined).then(
      (body) => {
        if ('refused' in body) refused++;
        // The client goes on waiting, and its request with it.
        response.write('…');
      },
      () => {},
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const body = JSON.stringify({ pad: 'x'.repeat(3 * MIB) });
  collect();
  const before = process.memoryUsage().arrayBuffers;
  const clients = Array.from({ length: 20 }, () => {
    const client = httpRequest({ host: '127.0.0.1', port, method: 'POST', agent: false });
    client.on('error', () => {});
    client.end(body);
    return client;
  });
  await expect.poll(() => refused, { timeout: 20_000 }).toBe(18);
  const kept = () => {
    collect();
    return (process.memoryUsage().arrayBuffers - before) / MIB;
  };
  await expect.poll(kept, { timeout: 10_000 }).toBeLessThan(20);
  for (const client of clients) client.destroy();
  isFree = true;
  await busy;
  server.closeAllConnections();
  server.close();
});
