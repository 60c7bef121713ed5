import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type CallSignal, Cancellation, toAbortSignal } from './cancellation.ts';

const kinds: readonly (readonly [string, () => { signal: CallSignal; abort: (reason?: unknown) => void }])[] = [
  [
    'an AbortController',
    () => {
      const controller = new AbortController();
      return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
    },
  ],
  [
    'a Cancellation',
    () => {
      const cancellation = new Cancellation();
      return { signal: cancellation, abort: (reason) => cancellation.abort(reason) };
    },
  ],
];

describe.each(kinds)('the signal of %s', (_name, create) => {
  test('tells each listener once, with the first reason', () => {
    const { signal, abort } = create();
    const heard: string[] = [];
    signal.addEventListener('abort', () => heard.push('first'));
    signal.addEventListener('abort', () => heard.push('second'));
    expect(signal.aborted).toBe(false);
    abort('why');
    abort('again');
    expect(signal).toMatchObject({ aborted: true, reason: 'why' });
    expect(heard).toEqual(['first', 'second']);
  });

  test('tells nobody who has stopped listening, or who comes too late', () => {
    const { signal, abort } = create();
    const heard: string[] = [];
    const listener = () => heard.push('left');
    signal.addEventListener('abort', listener);
    signal.removeEventListener('abort', listener);
    signal.removeEventListener('abort', listener);
    abort();
    signal.addEventListener('abort', () => heard.push('late'));
    expect(heard).toEqual([]);
    expect(signal.reason).toBeInstanceOf(Error);
  });

  test('is followed by a cancellation until that stops', () => {
    const { signal, abort } = create();
    const following = new Cancellation(signal);
    const stopped = new Cancellation(signal);
    stopped.unfollow();
    abort('why');
    expect(following).toMatchObject({ aborted: true, reason: 'why' });
    expect(stopped.aborted).toBe(false);
    expect(new Cancellation(signal)).toMatchObject({ aborted: true, reason: 'why' });
  });

  test('can be handed on as an AbortSignal', () => {
    const { signal, abort } = create();
    const before = toAbortSignal(signal);
    abort('why');
    for (const native of [before, toAbortSignal(signal)]) {
      expect(native).toBeInstanceOf(AbortSignal);
      expect(native).toMatchObject({ aborted: true, reason: 'why' });
    }
  });
});

test('a listener may leave, or another one come, while the others are being told', () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  const second = () => heard.push('second');
  cancellation.addEventListener('abort', () => {
    cancellation.removeEventListener('abort', second);
    cancellation.addEventListener('abort', () => heard.push('late'));
  });
  cancellation.addEventListener('abort', second);
  cancellation.abort();
  expect(heard).toEqual(['second']);
});

describe('a Cancellation', () => {
  test('tells all who listen, and as Node expects it, though one of them throws', async () => {
    const cancellation = new Cancellation();
    const heard: unknown[] = [];
    const thrown: unknown[] = [];
    cancellation.addEventListener('abort', () => {
      throw new Error('mine');
    });
    cancellation.addEventListener('abort', function (this: unknown, ...events: readonly unknown[]) {
      heard.push(this, events[0]);
    } as () => void);
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => thrown.push(error));
    try {
      cancellation.abort('why');
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      for (const listener of before) process.on('uncaughtException', listener);
    }
    expect(heard).toEqual([cancellation, { type: 'abort', target: cancellation, currentTarget: cancellation }]);
    expect(thrown).toEqual([new Error('mine')]);
    expect(cancellation).toMatchObject({ aborted: true, reason: 'why' });
  });

  test('ends a request of Node that was handed it', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cancellation = new Cancellation();
    const { port } = server.address() as AddressInfo;
    const asked = fetch(`http://127.0.0.1:${port}`, { signal: cancellation as unknown as AbortSignal });
    await once(server, 'request');
    cancellation.abort(new Error('no longer'));
    await expect(asked).rejects.toThrow();
    server.closeAllConnections();
    server.close();
  });
});
