/**
 * Tails a file until stopped. It polls, because not every file system supports watching; a replaced file is read from
 * its beginning.
 * @module
 */

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';

interface FollowOptions {
  /** The byte to start at. */
  readonly from: number;
  readonly onText: (text: string) => void;
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

const CHUNK = 64 * 1024;

/** Calls `onText` with what is appended. Resolves when the signal is aborted. */
export async function followFile(
  file: string,
  { from, onText, signal, everyMs = LIMITS.pace.follow }: FollowOptions,
): Promise<void> {
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
