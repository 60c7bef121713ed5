import { InMemoryTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Progress } from '../core/types.ts';
import { JsonRpcError, type JsonRpcMessage, NotSentError, type SendOptions, type Wire } from './json-rpc.ts';
import { Peer, PeerClosedError, type PeerOptions } from './peer.ts';

/** A peer and the bare other end of its wire. */
async function connect(options: PeerOptions = {}) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const received: JsonRpcMessage[] = [];
  const other = far as unknown as Wire;
  other.onmessage = (message) => void received.push(message);
  const wire = near as unknown as Wire;
  const peer = new Peer(wire, options);
  await other.start();
  await peer.start();
  return { peer, wire, other, received, far };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const last = (received: JsonRpcMessage[]) => received.at(-1) as JsonRpcMessage & { id: number };
const tokenOf = ({ params }: JsonRpcMessage) => (params as { _meta: { progressToken: number } })._meta.progressToken;

describe('requests of ours', () => {
  it('resolve with the raw result, unknown fields and all', async () => {
    const { peer, wire, other } = await connect();
    other.onmessage = ({ id }) => other.send({ jsonrpc: '2.0', id: id ?? 0, result: { odd: [1], _meta: { a: 1 } } });
    expect(await peer.request('m', { a: 1 })).toEqual({ result: { odd: [1], _meta: { a: 1 } }, bytes: undefined });
    expect(wire.awaited?.(1)).toBeUndefined();
  });

  it('get every progress note before their result, 200 times out of 200', async () => {
    const { peer, other } = await connect();
    other.onmessage = (message) => {
      const progressToken = tokenOf(message);
      for (const progress of [1, 2])
        void other.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } });
      void other.send({ jsonrpc: '2.0', id: message.id ?? 0, result: {} });
    };
    let good = 0;
    for (let i = 0; i < 200; i++) {
      const notes: Progress[] = [];
      await peer.request('m', {}, { onProgress: (progress) => notes.push(progress) });
      if (notes.length === 2) good++;
    }
    expect(good).toBe(200);
  });

  it('keep code and data of an error answer', async () => {
    const { peer, other } = await connect();
    other.onmessage = ({ id }) =>
      other.send({ jsonrpc: '2.0', id: id ?? 0, error: { code: -32042, message: 'go there', data: { url: 'x' } } });
    const error = await peer.request('m', {}).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(JsonRpcError);
    expect(error).toMatchObject({ code: -32042, message: 'go there', data: { url: 'x' } });
  });

  it.each([
    [{ result: null }, 'neither a result object nor an error'],
    [{ result: 'ok' }, 'neither a result object nor an error'],
    [{ result: [] }, 'neither a result object nor an error'],
    [{ result: [{ content: [] }] }, 'neither a result object nor an error'],
    [{ error: 'broken' }, 'broken'],
    [{ error: { code: 'E', message: { toString: 1 } } }, 'unknown error'],
    [{ error: [] }, 'unknown error'],
  ])('fail at once when the answer is %j', async (answer, message) => {
    const { peer, other } = await connect();
    other.onmessage = ({ id }) => other.send({ jsonrpc: '2.0', id: id ?? 0, ...answer } as unknown as JsonRpcMessage);
    await expect(peer.request('m', {})).rejects.toMatchObject({
      name: 'JsonRpcError',
      code: -32603,
      message: expect.stringContaining(message),
    });
  });

  it('accept a result beside an empty error, as old servers send it', async () => {
    const { peer, other } = await connect();
    other.onmessage = ({ id }) =>
      other.send({ jsonrpc: '2.0', id: id ?? 0, result: { a: 1 }, error: null } as unknown as JsonRpcMessage);
    await expect(peer.request('m', {})).resolves.toMatchObject({ result: { a: 1 } });
  });

  it('never get the answer or progress of another one, in 2,000 rounds of random order', async () => {
    const { peer, other } = await connect();
    other.onmessage = async (message) => {
      const { marker } = message.params as { marker: number };
      const progressToken = tokenOf(message);
      for (let i = Math.floor(Math.random() * 4); i > 0; i--) await tick();
      await other.send({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: marker },
      });
      for (let i = Math.floor(Math.random() * 4); i > 0; i--) await tick();
      await other.send({ jsonrpc: '2.0', id: message.id ?? 0, result: { marker } });
    };
    let crossed = 0;
    const round = async (marker: number) => {
      const notes: number[] = [];
      // Both clients use the same token of their own, which must not go downstream.
      const params = { marker, _meta: { progressToken: 1, trace: marker } };
      const { result } = await peer.request('m', params, { onProgress: ({ progress }) => notes.push(progress) });
      if (result.marker !== marker || notes.length !== 1 || notes[0] !== marker) crossed++;
    };
    for (let i = 0; i < 100; i++) await Promise.all(Array.from({ length: 20 }, (_, n) => round(i * 20 + n)));
    expect(crossed).toBe(0);
  });

  it("never send another caller's progress token, and keep the rest of _meta", async () => {
    const { peer, received } = await connect();
    void peer.request('m', { _meta: { progressToken: 7, traceparent: 't' } });
    void peer.request('m', { _meta: { progressToken: 7 } }, { onProgress: () => {} });
    peer.envelope = { version: 'v' };
    void peer.request('m', undefined);
    await tick();
    expect(received.map(({ params }) => params)).toEqual([
      { _meta: { traceparent: 't' } },
      { _meta: { progressToken: 2 } },
      { _meta: { version: 'v' } },
    ]);
  });

  it('tell the other side when they are cancelled, and drop a late result', async () => {
    const { peer, wire, other, received } = await connect();
    const controller = new AbortController();
    const notes: Progress[] = [];
    const cancelled = peer.request('slow', {}, { signal: controller.signal, onProgress: (note) => notes.push(note) });
    const stays = peer.request('other', {});
    await tick();
    controller.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    await tick();
    expect(last(received)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 1, reason: 'enough' },
    });
    await other.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    await other.send({ jsonrpc: '2.0', id: 1, result: { late: true } });
    await other.send({ jsonrpc: '2.0', id: 2, result: { mine: true } });
    await expect(stays).resolves.toMatchObject({ result: { mine: true } });
    expect(notes).toEqual([]);
    expect([wire.awaited?.(1), wire.awaited?.(2)]).toEqual([undefined, undefined]);
  });

  it('are not sent when they were cancelled before', async () => {
    const { peer, received } = await connect();
    await expect(peer.request('m', {}, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
    expect(received).toEqual([]);
  });

  it('are all rejected once when the conversation ends, and later ones are known not to be sent', async () => {
    const reasons: Error[] = [];
    const { peer, far } = await connect({ onClose: (reason) => reasons.push(reason) });
    const requests = [1, 2, 3].map((n) => peer.request('m', { n }));
    await far.close();
    for (const result of await Promise.allSettled(requests)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(PeerClosedError) });
    }
    await peer.close();
    expect(reasons).toHaveLength(1);
    expect(peer.closed).toBe(true);
    await expect(peer.request('m', {})).rejects.toBeInstanceOf(NotSentError);
    peer.notify('nobody hears this');
  });

  it('can be failed one by one', async () => {
    const { peer } = await connect();
    const request = peer.request('m', {});
    expect(peer.failRequest(1, new Error('lost'))).toBe(true);
    expect(peer.failRequest(1, new Error('lost'))).toBe(false);
    await expect(request).rejects.toThrow('lost');
  });
});

describe('requests of the other side', () => {
  it('are answered, with a result, an error of ours, or any error', async () => {
    const { other, received } = await connect({
      onRequest: async ({ method, params }) => {
        if (method === 'good') return { ...params };
        if (method === 'bad') throw new JsonRpcError(-1, 'bad', { why: 1 });
        throw new Error('worse');
      },
    });
    for (const [id, method] of ['good', 'bad', 'worse', 'ping'].entries())
      await other.send({ jsonrpc: '2.0', id, method, params: { a: 1 } });
    await tick();
    expect(received.sort((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { jsonrpc: '2.0', id: 0, result: { a: 1 } },
      { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'bad', data: { why: 1 } } },
      { jsonrpc: '2.0', id: 2, error: { code: -32603, message: 'worse' } },
      { jsonrpc: '2.0', id: 3, result: {} },
    ]);
  });

  it('are answered with few pongs at a time where answers take long to send', async () => {
    const sent: unknown[] = [];
    const wire: Wire = {
      start: async () => {},
      send: (message) => {
        sent.push(message.id);
        return new Promise(() => {});
      },
      close: async () => {},
    };
    new Peer(wire);
    for (let id = 1; id <= 1000; id++) wire.onmessage?.({ jsonrpc: '2.0', id, method: 'ping' });
    expect(sent).toEqual([1, 2, 3, 4]);
  });

  it('are refused if no handler is set', async () => {
    const { other, received } = await connect();
    await other.send({ jsonrpc: '2.0', id: 1, method: 'sampling/createMessage' });
    await tick();
    expect(last(received)).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  it('can be cancelled, and are then not answered', async () => {
    const aborted: string[] = [];
    const { other, received } = await connect({
      onRequest: ({ method, signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            aborted.push(method);
            resolve({});
          }),
        ),
    });
    await other.send({ jsonrpc: '2.0', id: 'x', method: 'slow' });
    await other.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x' } });
    await tick();
    expect(aborted).toEqual(['slow']);
    expect(received).toEqual([]);
  });

  it('are bounded, refused for an id in use, and aborted when the conversation ends', async () => {
    const signals: AbortSignal[] = [];
    const { peer, other, received } = await connect({
      maxIncoming: 2,
      onRequest: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    for (const id of [1, 1, 2, 3]) await other.send({ jsonrpc: '2.0', id, method: 'slow' });
    await tick();
    expect(signals).toHaveLength(2);
    expect(received).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 3, error: { code: -32603 } },
    ]);
    await peer.close();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });
});

describe('anything else', () => {
  it('is handed on when it is a notification and ignored when it is not a message', async () => {
    const heard: string[] = [];
    const { peer, other } = await connect({ onNotification: (method) => heard.push(method) });
    const request = peer.request('m', {});
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        await other.send(value as unknown as JsonRpcMessage);
      }),
      { numRuns: 200 },
    );
    await other.send({ jsonrpc: '2.0', method: 'notifications/x' });
    await other.send({ jsonrpc: '2.0', id: 1, result: { still: 'here' } });
    await expect(request).resolves.toMatchObject({ result: { still: 'here' } });
    expect(heard).toEqual(['notifications/x']);
  });
});

/** A wire that does as it is told. */
const wire = (
  send: (message: JsonRpcMessage, options?: SendOptions) => Promise<void> | void,
  perRequest = false,
): Wire => ({
  start: async () => {},
  close: async () => {},
  send,
  hasPerRequestStream: perRequest,
});

describe('a listener that throws', () => {
  it('is reported to the wire and harms neither the conversation nor the sender', async () => {
    const throwing = (what: string) => () => {
      throw new Error(what);
    };
    const [near, far] = InMemoryTransport.createLinkedPair();
    const other = far as unknown as Wire;
    const wire = near as unknown as Wire;
    const errors: string[] = [];
    const peer = new Peer(wire, { onNotification: throwing('note'), onClose: throwing('close') });
    wire.onerror = ({ message }) => errors.push(message);
    other.onmessage = ({ id, params }) => {
      const progressToken = (params as { _meta: { progressToken: number } })._meta.progressToken;
      wire.onmessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } });
      wire.onmessage?.({ jsonrpc: '2.0', method: 'notifications/x' });
      void other.send({ jsonrpc: '2.0', id: id ?? 0, result: { fine: true } });
    };
    await other.start();
    await peer.start();
    const { result } = await peer.request('m', {}, { onProgress: throwing('progress') });
    expect(result).toEqual({ fine: true });
    await peer.close();
    expect(errors).toEqual(['progress', 'note', 'close']);
  });
});

describe('a wire that fails', () => {
  it('fails the request it could not carry, whether it throws or rejects', async () => {
    const throwing = new Peer(
      wire(() => {
        throw new NotSentError('not running');
      }),
    );
    await expect(throwing.request('m', {})).rejects.toBeInstanceOf(NotSentError);
    const rejecting = new Peer(wire(() => Promise.reject(new Error('reset'))));
    await expect(rejecting.request('m', {})).rejects.toThrow('reset');
  });

  it('is told of notifications that were lost', async () => {
    const errors: string[] = [];
    for (const fail of [() => Promise.reject(new Error('a')), () => raise('b')]) {
      const broken = wire(fail);
      broken.onerror = (error) => errors.push(error.message);
      new Peer(broken).notify('n');
      await tick();
    }
    expect(errors).toEqual(['a', 'b']);
  });

  it('fails a request whose stream ended without an answer, with the reason where there is one', async () => {
    const ended = new Peer(wire((_, options) => options?.onRequestStreamEnd?.(), true));
    await expect(ended.request('m', {})).rejects.toBeInstanceOf(PeerClosedError);
    const failed = new Peer(wire((_, options) => options?.onRequestStreamEnd?.(new Error('too large')), true));
    await expect(failed.request('m', {})).rejects.toThrow('too large');
  });

  it('is cancelled by closing the stream on a modern connection, and by a notification as well on an old one', async () => {
    for (const modern of [true, false]) {
      const sent: JsonRpcMessage[] = [];
      let stream: SendOptions['requestSignal'];
      const peer = new Peer(
        wire((message, options) => {
          sent.push(message);
          stream ??= options?.requestSignal;
        }, true),
      );
      if (modern) peer.envelope = { v: 1 };
      const controller = new AbortController();
      const request = peer.request('m', {}, { signal: controller.signal });
      controller.abort('because');
      await expect(request).rejects.toBe('because');
      expect(stream?.aborted).toBe(true);
      expect(sent.slice(1).map(({ method }) => method)).toEqual(modern ? [] : ['notifications/cancelled']);
    }
  });
});

function raise(message: string): never {
  throw new Error(message);
}
