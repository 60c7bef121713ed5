/**
 * Encodes a server's vectors as bytes: a JSON header with names and keys, then the rows. Incomplete or damaged bytes,
 * or another version, count as absent.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';
import { VectorTable } from './vector-table.ts';

export interface StoredVectors {
  readonly table: VectorTable;
  /** The stamp of the tool list if all of its vectors are in the table; else empty. */
  readonly stamp: string;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

interface Head {
  readonly version: number;
  readonly stamp: string;
  readonly writtenAt: number;
  readonly dimensions: number;
  readonly names: readonly string[];
  readonly keys: readonly string[];
  readonly digest: string;
}

const VERSION = 1;

/** Encodes the filled rows. */
export function encodeVectors({ table, stamp, writtenAt }: StoredVectors): Uint8Array {
  const { dimensions } = table;
  const rows = [...table.names.keys()].filter((row) => table.has(row));
  const body = new Uint8Array(rows.length * dimensions);
  for (const [at, row] of rows.entries()) body.set(new Uint8Array(table.bytesOf(row)), at * dimensions);
  const head: Head = {
    version: VERSION,
    stamp,
    writtenAt,
    dimensions,
    names: rows.map((row) => table.names[row] ?? ''),
    keys: rows.map((row) => table.keys[row] ?? ''),
    digest: digestOf(body),
  };
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, body]);
}

/** Decodes what `encodeVectors` wrote; undefined for anything else. */
export function decodeVectors(bytes: Uint8Array): StoredVectors | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 4) return undefined;
  const start = 4 + buffer.readUInt32LE(0);
  const head = parse(buffer.toString('utf8', 4, start));
  if (!isHead(head)) return undefined;
  const { names, keys, dimensions, stamp, writtenAt } = head;
  const body = buffer.subarray(start);
  if (body.length !== names.length * dimensions || digestOf(body) !== head.digest) return undefined;
  const table = new VectorTable(names, keys);
  const rows = new Int8Array(body.buffer, body.byteOffset, body.length);
  for (const row of names.keys()) {
    if (!table.setBytes(row, rows.subarray(row * dimensions, (row + 1) * dimensions))) return undefined;
  }
  return { table, stamp, writtenAt };
}

const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex').slice(0, 32);

function isHead(value: unknown): value is Head {
  if (typeof value !== 'object' || value === null) return false;
  const { version, stamp, writtenAt, dimensions, names, keys, digest } = value as Record<string, unknown>;
  return (
    version === VERSION &&
    typeof stamp === 'string' &&
    typeof writtenAt === 'number' &&
    typeof dimensions === 'number' &&
    Number.isInteger(dimensions) &&
    dimensions >= 0 &&
    dimensions <= LIMITS.embeddings.dimensions &&
    areTexts(names) &&
    areTexts(keys) &&
    names.length === keys.length &&
    typeof digest === 'string'
  );
}

const areTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
