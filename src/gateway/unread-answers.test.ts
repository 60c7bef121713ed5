import { Agent, createServer, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { getHeapSpaceStatistics } from 'node:v8';
import { afterEach, expect, it } from 'vitest';
import { UnreadAnswers, WatchedResponse } from './unread-answers.ts';

const MIB = 1024 * 1024;
/** More than the operating system takes for a reader that does not read. */
const ANSWER = Buffer.alloc(24 * MIB, 'x');
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A server that answers every request with much, and its answers so far. */
async function serving(mostUnread: number, answer = ANSWER) {
  const unread = new UnreadAnswers(mostUnread);
  const answers: ServerResponse[] = [];
  const server = createServer({ ServerResponse: WatchedResponse }, (_, response) => {
    unread.watch(response);
    answers.push(response);
    response.write(answer);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    sockets.push(socket);
    return socket;
  };
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { answers, ask, [Symbol.asyncDispose]: async () => void (await close()) };
}

const waitingFor = (answers: readonly ServerResponse[]): number =>
  answers.reduce((sum, answer) => sum + (answer.destroyed ? 0 : answer.writableLength), 0);

it('drops clients that do not read, so that no more than the limit waits for them', async () => {
  await using server = await serving(40 * MIB);
  for (let at = 0; at < 8; at++) {
    server.ask().pause();
    await expect.poll(() => server.answers.length).toBe(at + 1);
  }
  await expect.poll(() => waitingFor(server.answers), { timeout: 15_000 }).toBeLessThanOrEqual(40 * MIB);
  expect(server.answers.filter((answer) => answer.destroyed).length).toBeGreaterThanOrEqual(4);
});

/** Reads to the end; gives back how much that was. With `everyMs` it pauses after each chunk. */
const read = (socket: Socket, everyMs = 0) =>
  new Promise<number>((resolve) => {
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (everyMs === 0) return;
      socket.pause();
      setTimeout(() => socket.resume(), everyMs);
    });
    socket.on('close', () => resolve(bytes));
  });

it('drops at once if far too much waits, starting with the client that has not read for longest', async () => {
  await using server = await serving(8 * MIB);
  for (let at = 0; at < 6; at++) {
    server.ask().pause();
    await expect.poll(() => server.answers.length).toBe(at + 1);
    expect(waitingFor(server.answers)).toBeLessThanOrEqual(32 * MIB);
  }
});

it('drops none of many clients that read at the same time', async () => {
  await using server = await serving(48 * MIB);
  const all = await Promise.all(Array.from({ length: 7 }, () => read(server.ask())));
  expect(all.every((bytes) => bytes > ANSWER.length)).toBe(true);
});

it('drops no client that reads slowly, although too much waits', { timeout: 30_000 }, async () => {
  await using server = await serving(4 * MIB, Buffer.alloc(14 * MIB, 'x'));
  expect(await read(server.ask(), 15)).toBeGreaterThan(14 * MIB);
});

it('drops no client that reads', async () => {
  await using server = await serving(40 * MIB);
  const stuck = server.ask().pause();
  await expect.poll(() => server.answers.length).toBe(1);
  for (let at = 0; at < 3; at++) expect(await read(server.ask())).toBeGreaterThan(ANSWER.length);
  expect(stuck.destroyed).toBe(false);
});

it('lets go of an answer that was sent, without a full collection', async () => {
  const oldGeneration = () =>
    getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
  const unread = new UnreadAnswers();
  const server = createServer({ ServerResponse: WatchedResponse }, (_, response) => {
    unread.watch(response);
    // Stands for what belongs to a request, and waits as calls do.
    Object.assign(response, { parts: Array.from({ length: 400 }, (_, at) => ({ at })) });
    setTimeout(() => response.end('done'), 2);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const ask = () =>
    new Promise<void>((resolve) => {
      request({ port, agent }, (response) => response.on('end', resolve).resume()).end();
    });
  const askOften = async (times: number) => {
    for (let count = 0; count < times; count++) await ask();
  };
  const askAtOnce = (times: number) => Promise.all(Array.from({ length: 50 }, () => askOften(times)));
  await askAtOnce(20);
  const before = oldGeneration();
  let most = 0;
  for (let count = 0; count < 20; count++) {
    await askAtOnce(10);
    most = Math.max(most, oldGeneration() - before);
  }
  agent.destroy();
  await new Promise((resolve) => server.close(resolve));
  expect(most).toBeLessThan(8 * MIB);
});
