/**
 * Encodes and decodes the saved index: a line about each server's list, then a snapshot of the search index.
 * @module
 */

import { isObject } from '../json/plain-object.ts';
import type { Listing } from './listing.ts';

export interface IndexEntry {
  readonly name: string;
  readonly fingerprint: string;
  readonly fetchedAt: number;
  readonly toolCount: number;
  readonly enabledCount: number;
  readonly unapprovedCount?: number | undefined;
  /** Digest of the approvals by which its tools were indexed; absent for a server that needs none. */
  readonly approvals?: string | undefined;
  /** Digest of the tools as the server lists them; absent if only the configuration gives them. */
  readonly digest?: string | undefined;
  readonly title?: string | undefined;
  readonly serverVersion?: string | undefined;
  readonly instructions?: string | undefined;
  readonly verdict?: Listing['verdict'];
  readonly skipped?: number | undefined;
  readonly incomplete?: string | undefined;
  readonly isCut?: boolean | undefined;
  readonly interactive?: boolean | undefined;
}

/** The line of a server without a list. */
export const nothingKnown = (name: string, fingerprint: string): IndexEntry => ({
  name,
  fingerprint,
  fetchedAt: 0,
  toolCount: 0,
  enabledCount: 0,
});

/** A saved catalogue: a line per server, and the search index over all of them. */
export interface ReadyIndex {
  readonly entries: readonly IndexEntry[];
  readonly snapshot: Uint8Array;
  /** The index over resources and prompts. */
  readonly items: Uint8Array;
}

const VERSION = 3;
const ALIGNMENT = 8;

/** Encodes an index. `stamp` identifies what it depends on besides the lists. */
export function encodeIndex({ entries, snapshot, items }: ReadyIndex, stamp: string): Uint8Array {
  const head = Buffer.from(JSON.stringify({ version: VERSION, stamp, entries, items: items.byteLength }));
  const start = aligned(4 + head.length);
  const bytes = new Uint8Array(start + snapshot.byteLength + items.byteLength);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  bytes.set(snapshot, start);
  bytes.set(items, start + snapshot.byteLength);
  return bytes;
}

/** Decodes an index. Undefined if the bytes are incomplete, of another version or have another stamp. */
export function decodeIndex(bytes: Uint8Array, stamp: string): ReadyIndex | undefined {
  if (bytes.byteLength < ALIGNMENT) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
  const start = aligned(4 + length);
  if (start > bytes.byteLength) return undefined;
  const head = parse(Buffer.from(bytes.buffer, bytes.byteOffset + 4, length).toString('utf8'));
  if (!isObject(head) || head.version !== VERSION || head.stamp !== stamp) return undefined;
  if (!Array.isArray(head.entries) || !head.entries.every(isEntry)) return undefined;
  const end = bytes.byteLength - Number(head.items);
  if (!(end >= start)) return undefined;
  // Copied, because the index is read through typed arrays, which need aligned bytes.
  const [snapshot, items] = [new Uint8Array(bytes.subarray(start, end)), new Uint8Array(bytes.subarray(end))];
  return { entries: head.entries, snapshot, items };
}

const aligned = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;

function isEntry(data: unknown): data is IndexEntry {
  if (!isObject(data)) return false;
  const { name, fingerprint, fetchedAt, toolCount, enabledCount, title, instructions, incomplete } = data;
  return (
    typeof name === 'string' &&
    typeof fingerprint === 'string' &&
    [fetchedAt, toolCount, enabledCount].every((number) => typeof number === 'number') &&
    [title, instructions, incomplete].every((text) => text === undefined || typeof text === 'string')
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
