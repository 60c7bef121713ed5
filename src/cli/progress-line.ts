/**
 * What is going on, in one line on a terminal that is written over; nothing anywhere else.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Io } from './io.ts';
import { cutTo } from './layout.ts';

export interface Progress {
  /** Shows a line in place of the last one. */
  show(text: string): void;
  /** Takes the line away. */
  clear(): void;
}

const CLEAR = '\r\u001b[2K';

/** The line of this terminal. */
export function progressOn({ stderr, env }: Pick<Io, 'stderr' | 'env'>): Progress {
  if (!stderr.isTTY || env.TERM === 'dumb') return { show: () => {}, clear: () => {} };
  let shown = false;
  return {
    show: (text) => {
      shown = true;
      stderr.write(CLEAR + cutTo(oneLine(text, LIMITS.text.reason), stderr.columns || 80));
    },
    clear: () => {
      if (shown) stderr.write(CLEAR);
      shown = false;
    },
  };
}

/** Who is being waited for, and how many are done. */
export const startingText = (waiting: readonly string[], total: number): string =>
  total === 1
    ? `Starting ${waiting.join('')} …`
    : `Starting servers: ${total - waiting.length} of ${total} ready, waiting for ${waiting.join(', ')}`;
