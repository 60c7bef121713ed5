/**
 * Bounds the answers that wait for HTTP clients that do not read, and drops the client that has not read for longest.
 *
 * A client that reads is not affected: what counts is whether the operating system still accepts bytes for it, and each
 * client has some time to start. Without this bound, a client that does not read would keep every answer in memory.
 * @module
 */
import { ServerResponse } from 'node:http';
import { InFlight } from '../async/in-flight.ts';
import { LIMITS } from '../core/limits.ts';

/**
 * An answer that knows how far its client has read. A class of its own, because V8 keeps responses that got a method of
 * their own until the next full collection, with all that belongs to their requests.
 */
export class WatchedResponse extends ServerResponse {
  /** What the client had read at the last check, and since when it has read no more. */
  readonly progress = { read: 0, since: 0 };
  /** Called when the operating system does not take all that is written. */
  onUntaken: (() => void) | undefined;

  override write(...args: unknown[]): boolean {
    // While the gateway closes, a stream may already have ended. That is no error.
    if (this.writableEnded) return true;
    // The wait starts when the first byte is queued.
    if (this.writableLength === 0) this.progress.since = performance.now();
    const isTaken = super.write(...(args as [unknown, BufferEncoding]));
    if (!isTaken) this.onUntaken?.();
    return isTaken;
  }
}

export class UnreadAnswers {
  readonly #watched = new InFlight<WatchedResponse>();
  readonly #mostUnread: number;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(mostUnread: number = LIMITS.wire.unreadHttp) {
    this.#mostUnread = mostUnread;
  }

  /** Watches an answer until it is closed. */
  watch(response: WatchedResponse): void {
    response.progress.since = performance.now();
    response.onUntaken = this.#look;
    this.#watched.add(response);
    this.#timer ??= setInterval(this.#look, LIMITS.pace.unread).unref();
    response.on('close', () => {
      this.#watched.delete(response);
      if (this.#watched.size > 0) return;
      clearInterval(this.#timer);
      clearTimeout(this.#soon);
      this.#timer = this.#soon = undefined;
    });
  }

  /** Notes progress and drops clients that make none. */
  readonly #look = (): void => {
    const now = performance.now();
    let unread = 0;
    const waiting: WatchedResponse[] = [];
    for (const response of this.#watched) {
      const { progress } = response;
      if (response.writableLength === 0) {
        progress.since = now;
        continue;
      }
      const read = takenFrom(response);
      if (read !== progress.read) Object.assign(progress, { read, since: now });
      unread += response.writableLength;
      waiting.push(response);
    }
    waiting.sort((a, b) => a.progress.since - b.progress.since);
    for (const response of waiting) {
      const isMost = waiting.length > 1 && unread > this.#mostUnread * LIMITS.wire.unreadFactor;
      const patience = isMost ? 0 : unread > this.#mostUnread ? LIMITS.time.unread : LIMITS.time.stalled;
      if (now - response.progress.since < patience) break;
      unread -= response.writableLength;
      response.destroy();
    }
    if (unread > this.#mostUnread) this.#lookSoon();
  };

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
