import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
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

describe('a connection with many requests at once', () => {
  const request = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  /** Sends so many requests at once, and reads until all are answered or the connection is closed. */
  const pipelined = async (count: number, port = Number(new URL(served.url).port)) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    let said = '';
    const answers = () => said.split('"status":"ok"').length - 1;
    socket.write(request.repeat(count));
    await Promise.race([
      once(socket, 'close'),
      new Promise<void>((resolve) => {
        socket.on('data', (chunk) => {
          said += chunk;
          if (answers() === count) resolve();
        });
      }),
    ]);
    const { destroyed } = socket;
    socket.destroy();
    return { isClosed: destroyed, answers: answers() };
  };

  it('is closed, and few are not', async () => {
    expect(await pipelined(LIMITS.wire.pipelined)).toEqual({ isClosed: false, answers: LIMITS.wire.pipelined });
    expect(await pipelined(LIMITS.wire.pipelined + 1)).toMatchObject({ isClosed: true });
  });

  it('is followed by others that are read later, and answered all the same', async () => {
    const open = new OpenConnections();
    const events: string[] = [];
    const server = createServer((incoming, response) => {
      const isOpen = open.admit(incoming, response);
      // The rest of a long pipeline takes so long.
      for (const end = performance.now() + 1; !isOpen && performance.now() < end; );
      if (!isOpen) return;
      events.push('request');
      response.end('"status":"ok"');
    });
    server.on('connection', (socket) => {
      open.add(socket);
      open.slow(socket);
      const resume = socket.resume.bind(socket);
      socket.resume = () => {
        events.push('resume');
        return resume();
      };
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    for (let round = 0; round < 3; round++) await pipelined(50, port);
    events.length = 0;
    expect(await pipelined(1, port)).toEqual({ isClosed: false, answers: 1 });
    // Node resumes once more after the answer.
    expect(events.slice(0, 2)).toEqual(['resume', 'request']);
    server.close();
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
    const [request, response] = [{ socket: busy } as never, { once: () => {} } as never];
    open.admit(request, response);
    open.use(request, response);
    open.add(socket('c', 1));
    expect([other, busy, oldest, next].map(({ destroyed }) => destroyed)).toEqual([false, false, true, false]);
  });
});
