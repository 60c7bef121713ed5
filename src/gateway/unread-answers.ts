/**
 * Bounds the answers that wait for HTTP clients that do not read, and drops the client that has not read for longest.
 *
 * A client that reads is not affected: what counts is whether the operating system still accepts bytes for it, and each
 * client has some time to start. Without this bound, a client that does not read would keep every answer in memory.
 * @module
 */
import type { ServerResponse } from 'node:http';
import { LIMITS } from '../core/limits.ts';

/** How far a client has read, at the last check. */
interface Reader {
  read: number;
  since: number;
}

export class UnreadAnswers {
  readonly #readers = new Map<ServerResponse, Reader>();
  readonly #mostUnread: number;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(mostUnread: number = LIMITS.wire.unreadHttp) {
    this.#mostUnread = mostUnread;
  }

  /** Watches an answer until it is closed. */
  watch(response: ServerResponse): void {
    const reader: Reader = { read: 0, since: performance.now() };
    this.#readers.set(response, reader);
    this.#timer ??= setInterval(() => this.#look(), LIMITS.pace.unread).unref();
    response.on('close', () => {
      this.#readers.delete(response);
      if (this.#readers.size > 0) return;
      clearInterval(this.#timer);
      clearTimeout(this.#soon);
      this.#timer = this.#soon = undefined;
    });
    const write = response.write.bind(response) as (...args: unknown[]) => boolean;
    response.write = ((...args: unknown[]) => {
      // While the gateway closes, a stream may already have ended. That is no error.
      if (response.writableEnded) return true;
      // The wait starts when the first byte is queued.
      if (response.writableLength === 0) reader.since = performance.now();
      const isTaken = write(...args);
      if (!isTaken) this.#look();
      return isTaken;
    }) as typeof response.write;
  }

  /** Notes progress and drops clients that make none. */
  #look(): void {
    const now = performance.now();
    let unread = 0;
    const waiting: { readonly response: ServerResponse; readonly since: number }[] = [];
    for (const [response, reader] of this.#readers) {
      if (response.writableLength === 0) {
        reader.since = now;
        continue;
      }
      const read = takenFrom(response);
      if (read !== reader.read) Object.assign(reader, { read, since: now });
      unread += response.writableLength;
      waiting.push({ response, since: reader.since });
    }
    waiting.sort((a, b) => a.since - b.since);
    for (const { response, since } of waiting) {
      const isMost = waiting.length > 1 && unread > this.#mostUnread * LIMITS.wire.unreadFactor;
      const patience = isMost ? 0 : unread > this.#mostUnread ? LIMITS.time.unread : LIMITS.time.stalled;
      if (now - since < patience) break;
      unread -= response.writableLength;
      response.destroy();
    }
    if (unread > this.#mostUnread) this.#lookSoon();
  }

  #lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#look();
    }, LIMITS.time.unread / 4).unref();
  }
}

/**
 * Bytes that the operating system has accepted for a client's socket. Node counts a large answer as written at once;
 * only the socket's handle knows how much is still queued.
 */
function takenFrom({ socket }: ServerResponse): number {
  const handle = (socket as { _handle?: { bytesWritten?: unknown; writeQueueSize?: unknown } } | null)?._handle;
  const [given, left] = [handle?.bytesWritten, handle?.writeQueueSize];
  return typeof given === 'number' && typeof left === 'number' ? given - left : (socket?.bytesWritten ?? 0);
}
