/**
 * The names and the layout of a file store's files: a key in, a file name out; a key and bytes in, file content out, and
 * back. A name is a slug for people plus a hash for us, so that no key leaves the folder and no two share a file.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';

const MAGIC = 'anygpt-store/2';
const NEWLINE = 0x0a;

/** A file name that is safe on every platform and belongs to this key alone. */
export function entryFileName(key: string): string {
  const slug = key
    .slice(0, 40)
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-');
  // UTF-16, because UTF-8 would map every broken surrogate to the same bytes.
  const hash = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('hex').slice(0, 32);
  return `${slug}-${hash}.entry`;
}

/** Whether a file name is one of ours. */
export const isEntryFileName = (name: string): boolean => /^[a-z0-9_-]{0,40}-[0-9a-f]{32}\.entry$/.test(name);

/** What stands in the file before the value: a mark, the value's length and digest, and the key. */
export const entryHeader = (key: string, value: Uint8Array): Buffer =>
  Buffer.from(`${MAGIC} ${value.length}:${digestOf(value)} ${JSON.stringify(key)}\n`, 'utf8');

/** SHA-256, cut to 128 bits. It costs well below a millisecond per megabyte where the processor helps, two where not. */
const digestOf = (value: Uint8Array): string => createHash('sha256').update(value).digest('hex').slice(0, 32);

/**
 * The value in a file's content, or undefined when it is damaged or not this key's. The header is made anew from the
 * value and compared, so one changed bit anywhere in the file makes it damaged.
 */
export function entryValue(key: string, content: Uint8Array): Uint8Array | undefined {
  const end = content.subarray(0, LIMITS.cache.header).indexOf(NEWLINE) + 1;
  const value = content.subarray(end);
  return end > 0 && entryHeader(key, value).equals(content.subarray(0, end)) ? value : undefined;
}

/** The key that the beginning of a file names, or undefined. */
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
