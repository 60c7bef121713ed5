import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serve } from '../../test/fixtures/connections/harness.ts';
import { LIMITS } from '../core/limits.ts';
import { AnswerRoom } from './answer-room.ts';
import { guardedFetch } from './http/guarded-fetch.ts';
import { LineReader } from './line-reader.ts';

const MIB = 2 ** 20;
const LONGEST = 16 * MIB;
const CHUNK = MIB;

/** Reads a message in chunks as long as there is room, up to `stop` bytes. */
class Reader {
  bytes = 0;
  end: 'whole' | 'given up' | undefined;
  readonly #room: AnswerRoom;
  constructor(room: AnswerRoom) {
    this.#room = room;
  }
  async read(stop: number, isWhole: boolean): Promise<void> {
    while (this.bytes < stop) {
      this.bytes += CHUNK;
      await this.#room.hold(this, this.bytes, () => {
        this.bytes = 0;
        this.end = 'given up';
      });
    }
    if (!isWhole) return;
    this.end = 'whole';
    this.bytes = 0;
    this.#room.leave(this);
  }
}

describe('AnswerRoom', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('holds no more than its limit and one message, whatever stalls, and reads all others to their end', async () => {
    const message = fc.record({ size: fc.integer({ min: 1, max: 16 }), isWhole: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 40 }), async (messages) => {
        const room = new AnswerRoom();
        const readers = messages.map(({ size, isWhole }) => {
          const reader = new Reader(room);
          void reader.read(size * MIB, isWhole);
          return reader;
        });
        for (let look = 0; look < 3 * messages.length; look++) {
          const held = readers.reduce((sum, { bytes }) => sum + (bytes > CHUNK ? bytes : 0), 0);
          expect(held).toBeLessThanOrEqual(LIMITS.wire.answers + LONGEST + messages.length * CHUNK);
          await vi.advanceTimersByTimeAsync(LIMITS.pace.stalledAnswers);
        }
        for (const [at, { isWhole }] of messages.entries()) if (isWhole) expect(readers[at]?.end).toBe('whole');
        expect(vi.getTimerCount()).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('gives up nothing while there is room for all', async () => {
    const room = new AnswerRoom();
    const readers = [new Reader(room), new Reader(room)];
    for (const reader of readers) void reader.read(LONGEST, false);
    await vi.advanceTimersByTimeAsync(10 * LIMITS.pace.stalledAnswers);
    expect(readers.map(({ end }) => end)).toEqual([undefined, undefined]);
  });

  it('fails a line of a server that stalls, and reads the next one', async () => {
    const room = new AnswerRoom();
    const lost: unknown[] = [];
    const lines = new LineReader({
      maxBytes: LONGEST,
      room,
      onLine: (line) => lost.push(line),
      onLarge: () => undefined,
      onUnread: (head, _, why) => lost.push([head.slice(0, 4), why]),
    });
    lines.push(Buffer.alloc(15 * MIB, 'a'));
    for (let at = 0; at < 4; at++) void new Reader(room).read(15 * MIB, false);
    await vi.advanceTimersByTimeAsync(3 * LIMITS.pace.stalledAnswers);
    lines.push(Buffer.from('b\nnext\n'));
    expect(lost).toEqual([['aaaa', 'stalled'], 'next']);
  });
});

describe('large answers of remote servers', () => {
  const text = Buffer.alloc(15 * MIB, 'a');
  const kinds = [
    ['application/json', '{"text":"', '"}'],
    ['text/event-stream', 'data: {"jsonrpc":"2.0","id":1,"result":"', '"}\n\n'],
  ] as const;

  const read = async (url: string, signal?: AbortSignal): Promise<number> => {
    const response = await guardedFetch({ server: 's', maxMessageBytes: LONGEST })(url, signal && { signal });
    const isJson = response.headers.get('content-type') === 'application/json';
    return String(isJson ? ((await response.json()) as { text: string }).text : await response.text()).length;
  };

  it.each(kinds)('that do not end give their memory to others: %s', { timeout: 60_000 }, async (type, start, end) => {
    await using hostile = await serve((_, response) => {
      response.writeHead(200, { 'content-type': type }).write(start);
      response.write(text);
    });
    await using honest = await serve((_, response) => {
      response.writeHead(200, { 'content-type': type }).write(start);
      response.end(Buffer.concat([text, Buffer.from(end)]));
    });
    const ending = new AbortController();
    const failed: unknown[] = [];
    for (let at = 0; at < 6; at++) void read(hostile.url, ending.signal).catch((error) => failed.push(error));
    await expect.poll(() => process.memoryUsage().arrayBuffers, { timeout: 5000 }).toBeGreaterThan(40 * MIB);
    expect(await read(honest.url)).toBeGreaterThanOrEqual(text.length);
    expect(failed[0]).toMatchObject({
      code: 'RESULT_TOO_LARGE',
      message: 's sent a message whose rest did not come while others waited for its memory.',
    });
    ending.abort();
    await expect.poll(() => failed.length).toBe(6);
  });

  it('that come at the same time are all read', { timeout: 60_000 }, async () => {
    const [type, start, end] = kinds[0];
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': type }).write(start);
      response.end(Buffer.concat([text, Buffer.from(end)]));
    });
    const sizes = await Promise.all(Array.from({ length: 6 }, () => read(server.url)));
    expect(sizes).toEqual(Array(6).fill(text.length));
  });
});
