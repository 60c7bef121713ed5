/**
 * Reads and writes JSON documents in a store, marked with their kind and version. A document that cannot be used,
 * because of damage, size or version, is set aside and counts as absent.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Store } from './store.ts';

/** A family of documents. */
export interface DocumentType<T> {
  readonly kind: string;
  /** Raised whenever the shape of the data changes. */
  readonly version: number;
  /** Validates data from disk. */
  readonly check?: ((data: unknown) => data is T) | undefined;
}

export const encodeDocument = <T>({ kind, version }: DocumentType<T>, data: T): Uint8Array =>
  Buffer.from(JSON.stringify({ version, kind, data }), 'utf8');

/** Decodes a document; undefined when the bytes are not of this kind and version. */
export function decodeDocument<T>(type: DocumentType<T>, bytes: Uint8Array): T | undefined {
  if (bytes.length === 0 || bytes.length > LIMITS.cache.value) return undefined;
  const parsed = parse(bytes);
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { version, kind, data } = parsed as Record<string, unknown>;
  if (version !== type.version || kind !== type.kind || data === undefined) return undefined;
  return type.check === undefined || type.check(data) ? (data as T) : undefined;
}

/** Reads a document; an unusable one is moved aside so that it can be rebuilt. */
export async function readDocument<T>(store: Store, key: string, type: DocumentType<T>): Promise<T | undefined> {
  const bytes = await store.read(key);
  if (bytes === undefined) return undefined;
  const data = decodeDocument(type, bytes);
  if (data === undefined) await store.setAside(key);
  return data;
}

export async function writeDocument<T>(store: Store, key: string, type: DocumentType<T>, data: T): Promise<void> {
  await store.write(key, encodeDocument(type, data));
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
