/**
 * Encodes the names and the content of a file store's files. A name is a readable slug and a hash of the key, so that
 * no key leads outside the folder and no two keys share a file.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';

const MAGIC = 'anygpt-store/2';
const NEWLINE = 0x0a;

/** Returns a file name that is safe on every platform and unique to the key. */
export function entryFileName(key: string): string {
  const slug = key
    .slice(0, 40)
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-');
  // UTF-16, because UTF-8 would map every broken surrogate to the same bytes.
  const hash = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('hex').slice(0, 32);
  return `${slug}-${hash}.entry`;
}

/** Tells whether a file name is one of ours. */
export const isEntryFileName = (name: string): boolean => /^[a-z0-9_-]{0,40}-[0-9a-f]{32}\.entry$/.test(name);

/** Returns the header before the value: a magic word, the value's length and digest, and the key. */
export function entryHeader(key: string, parts: readonly Uint8Array[]): Buffer {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  return Buffer.from(`${MAGIC} ${size}:${digestOf(parts)} ${JSON.stringify(key)}\n`, 'utf8');
}

/** SHA-256, truncated to 128 bits. Costs well below a millisecond per megabyte with hardware support, two without. */
function digestOf(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, 32);
}

/**
 * Returns the value in a file's content, or undefined when it is damaged or belongs to another key. The header is
 * rebuilt from the value and compared, so a single changed bit is detected.
 */
export function entryValue(key: string, content: Uint8Array): Uint8Array | undefined {
  const end = content.subarray(0, LIMITS.cache.header).indexOf(NEWLINE) + 1;
  const value = content.subarray(end);
  return end > 0 && entryHeader(key, [value]).equals(content.subarray(0, end)) ? value : undefined;
}

/** Returns the key in the beginning of a file, or undefined. */
export function entryKey(beginning: Uint8Array): string | undefined {
  const line = Buffer.from(beginning).toString('utf8').split('\n', 1)[0] ?? '';
  const [magic, , ...rest] = line.split(' ');
  if (magic !== MAGIC) return undefined;
  try {
    const key: unknown = JSON.parse(rest.join(' '));
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}
