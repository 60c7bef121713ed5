/**
 * Reads a whole list of a server, page by page, within limits. Each entry is checked separately, so that a bad one
 * costs only itself.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { Redact } from '../secrets/redactor.ts';
import { oneLine } from '../text/plain-text.ts';

export interface SkippedEntry {
  readonly name: string;
  readonly reason: string;
}

export interface PagedList<T> {
  readonly entries: readonly T[];
  readonly skipped: readonly SkippedEntry[];
  /** Why the list is incomplete, if it is. */
  readonly incomplete: string | undefined;
  /** Whether a limit of ours is the reason. Other incomplete lists must not replace a complete one. */
  readonly isCut?: boolean | undefined;
}

/** An entry as we keep it, with what identifies it in its list; or why it is left out. */
export type CheckedEntry<T> =
  | { readonly id: string; readonly entry: T; readonly bytes: number }
  | { readonly name: unknown; readonly reason: string };

interface PagedListOptions<T> {
  /** The member of a page that holds its entries. */
  readonly key: string;
  readonly check: (entry: unknown) => CheckedEntry<T>;
  readonly repeated: string;
  readonly limits: { readonly pages: number; readonly entries: number; readonly bytes: number };
  readonly redact: Redact;
}

export type ReadPage = (cursor: string | undefined) => Promise<Readonly<Record<string, unknown>>>;

/** Entries checked in one go, so that a huge page does not block other work. */
const SLICE = 200;

/** Reads pages until the server has no more, a cursor repeats, or a limit is reached. */
export async function readPagedList<T>(
  page: ReadPage,
  { key, check, repeated, limits, redact }: PagedListOptions<T>,
): Promise<PagedList<T>> {
  const entries = new Map<string, T>();
  const skipped: SkippedEntry[] = [];
  const skip = (name: unknown, reason: string) => {
    const shown = typeof name === 'string' ? oneLine(redact.cut(name, 400), 80) : '';
    if (skipped.length < LIMITS.wire.skipped) skipped.push({ name: shown, reason });
  };
  let bytes = 0;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const result = await page(cursor);
    const listed = result[key];
    if (!Array.isArray(listed)) return done('the server sent no list');
    for (const [index, entry] of listed.entries()) {
      if (index % SLICE === SLICE - 1) await breath();
      const checked = check(entry);
      if ('reason' in checked) skip(checked.name, checked.reason);
      else if (entries.has(checked.id)) skip(checked.id, repeated);
      else if (entries.size >= limits.entries) return done(`more than ${limits.entries} ${key}`, true);
      else {
        bytes += checked.bytes;
        if (bytes > limits.bytes) return done(`more than ${limits.bytes} bytes of definitions`, true);
        entries.set(checked.id, checked.entry);
      }
    }
    const next = result.nextCursor;
    if (typeof next !== 'string') return done(undefined);
    if (next.length > LIMITS.wire.cursor) return done(`a page cursor of ${next.length} characters`);
    if (cursors.has(next)) return done('the server repeated a page cursor');
    if (pages >= limits.pages) return done(`more than ${limits.pages} pages`, true);
    cursors.add(next);
    cursor = next;
    await breath();
  }

  function done(incomplete: string | undefined, isCut = false): PagedList<T> {
    return { entries: [...entries.values()], skipped, incomplete, ...(isCut && { isCut }) };
  }
}

const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Cuts a long text. Secrets are removed before. */
export const shortened = (text: string, maxChars: number, redact: Redact): string =>
  text.length > maxChars ? redact.cut(text, maxChars) : text;

/** The size of a value as JSON; undefined if it is nested too deeply. */
export function jsonLength(value: unknown): number | undefined {
  try {
    return JSON.stringify(value).length;
  } catch {
    return undefined;
  }
}
