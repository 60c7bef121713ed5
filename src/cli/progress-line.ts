/**
 * Shows progress in one line of a terminal that is overwritten; nowhere else.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Io } from './io.ts';
import { cutTo } from './layout.ts';

export interface Progress {
  /** Replaces the line. */
  show(text: string): void;
  /** Removes the line. */
  clear(): void;
}

const CLEAR = '\r\u001b[2K';

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

/** Which servers have not answered yet, and how many have. */
export const startingText = (waiting: readonly string[], total: number): string =>
  total === 1
    ? `Starting ${waiting.join('')} …`
    : `Starting servers: ${total - waiting.length} of ${total} ready, waiting for ${waiting.join(', ')}`;
