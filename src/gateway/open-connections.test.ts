import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask, INITIALIZE, JSON_HEADERS } from '../../test/fixtures/gateway/http-request.ts';
import { engineWith } from '../../test/fixtures/gateway/kit.ts';
import { LIMITS } from '../core/limits.ts';
import { discoverySurface } from './discovery-surface.ts';
import { OpenConnections } from './open-connections.ts';
import { type ServedHttp, serveGatewayOnHttp } from './serve-http.ts';

let engine: ReturnType<typeof engineWith>;
let served: ServedHttp;
beforeEach(async () => {
  engine = engineWith({ servers: [] });
  served = await serveGatewayOnHttp(engine, { port: 0, surface: discoverySurface(engine) });
});
afterEach(async () => {
  await served.close();
  await engine.close();
});

describe('connections that send no request', () => {
  it('keep nobody out, however many one machine opens', async () => {
    const port = Number(new URL(served.url).port);
    const idle: Socket[] = [];
    try {
      for (let count = 0; count < LIMITS.wire.connections + 20; count++) {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        idle.push(socket);
        await once(socket, 'connect');
        socket.write('POST /mcp HT');
      }
      const asking = { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(INITIALIZE) };
      expect((await ask(served.url, asking)).status).toBe(200);
    } finally {
      for (const socket of idle) socket.destroy();
    }
  });
});

describe('the connection that leaves', () => {
  const socket = (address: string, port: number) => {
    const made = {
      remoteAddress: address,
      remotePort: port,
      destroyed: false,
      once: () => made,
      destroy: () => {
        made.destroyed = true;
      },
    };
    return made as never as Socket;
  };

  it('is the oldest idle one of the address with the most, and never one in use', () => {
    const open = new OpenConnections(4);
    const [other, busy, oldest, next] = [socket('b', 1), socket('a', 1), socket('a', 2), socket('a', 3)];
    for (const one of [other, busy, oldest, next]) open.add(one);
    open.use({ socket: busy } as never, { once: () => {} } as never);
    open.add(socket('c', 1));
    expect([other, busy, oldest, next].map(({ destroyed }) => destroyed)).toEqual([false, false, true, false]);
  });
});
