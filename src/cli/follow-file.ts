/**
 * A file that others write to in, what they add to it out, until somebody says stop. Looks again and again, because
 * watching is not to be had on every disk; a file that was replaced is read from its beginning.
 * @module
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

export interface FollowOptions {
  /** Where to go on. */
  readonly from: number;
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

const CHUNK = 64 * 1024;

/** Resolves when the signal is aborted. */
export async function followFile(file: string, { from, onText, signal, everyMs = 200 }: FollowOptions): Promise<void> {
  let at = from;
  let identity: number | undefined;
  let decoder = new TextDecoder();
  while (!signal.aborted) {
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(() => undefined);
    if (handle) {
      try {
        const { ino, size } = await handle.stat();
        if (size < at || (identity !== undefined && identity !== ino)) {
          at = 0;
          decoder = new TextDecoder();
        }
        identity = ino;
        while (at < size && !signal.aborted) {
          const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(CHUNK, size - at)), 0, null, at);
          if (bytesRead === 0) break;
          at += bytesRead;
          onText(decoder.decode(buffer.subarray(0, bytesRead), { stream: true }));
        }
      } finally {
        await handle.close();
      }
    }
    await pause(everyMs, signal);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
