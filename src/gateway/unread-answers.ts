/**
 * Bounds what waits for HTTP clients that do not read: the one that has not read for longest is dropped.
 *
 * A client that reads never notices. One that asks and does not read would otherwise keep every answer in memory.
 * @module
 */
import type { ServerResponse } from 'node:http';

/** Bytes of all answers that may wait for clients. */
const MOST_UNREAD = 16 * 1024 * 1024;
/** A client that reads nothing for this long, while something waits for it, has stopped. */
const STALLED_MS = 15_000;
const LOOK_EVERY_MS = 3_000;

/** How far a client has read, when that was last looked at. */
interface Reader {
  read: number;
  since: number;
}

export class UnreadAnswers {
  readonly #readers = new Map<ServerResponse, Reader>();
  readonly #mostUnread: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(mostUnread: number = MOST_UNREAD) {
    this.#mostUnread = mostUnread;
  }

  /** Watches an answer from now until it is closed. */
  watch(response: ServerResponse): void {
    this.#readers.set(response, { read: 0, since: performance.now() });
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    response.once('close', () => {
      this.#readers.delete(response);
      if (this.#readers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
    const write = response.write.bind(response) as (...args: unknown[]) => boolean;
    response.write = ((...args: unknown[]) => {
      const isTaken = write(...args);
      if (!isTaken) this.#look();
      return isTaken;
    }) as typeof response.write;
  }

  /** Notes who has read on, and drops who has not. */
  #look(): void {
    const now = performance.now();
    let unread = 0;
    const waiting: { readonly response: ServerResponse; readonly since: number }[] = [];
    for (const [response, reader] of this.#readers) {
      if (response.writableLength === 0) {
        reader.since = now;
        continue;
      }
      const read = response.socket?.bytesWritten ?? 0;
      if (read !== reader.read) Object.assign(reader, { read, since: now });
      unread += response.writableLength;
      waiting.push({ response, since: reader.since });
    }
    waiting.sort((a, b) => a.since - b.since);
    for (const { response, since } of waiting) {
      if (unread <= this.#mostUnread && now - since < STALLED_MS) return;
      unread -= response.writableLength;
      response.destroy();
    }
  }
}
