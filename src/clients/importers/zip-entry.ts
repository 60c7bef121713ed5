/**
 * A zip archive and a name in, the text of that one entry out. Only the directory at the end and the entry itself are
 * read; sizes are bounded before anything is unpacked, and nothing is written.
 * @module
 */
import { type FileHandle, open } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';

/** The closing record and the longest comment that may follow it. */
const MAX_END = 22 + 65_535;
const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const ENCRYPTED = 1;

interface Entry {
  readonly method: number;
  readonly compressed: number;
  readonly size: number;
  readonly offset: number;
}

/** The text of an entry; undefined when the archive has none of that name. */
export async function readZipEntry(path: string, name: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const directory = await readDirectory(path, file, size);
    const entry = findEntry(path, directory, name);
    return entry === undefined ? undefined : await readEntry(path, file, entry);
  } finally {
    await file.close();
  }
}

const damaged = (path: string, what: string, cause?: unknown) =>
  new ConfigurationError(`${path} is not a usable zip archive: ${what}.`, [], cause === undefined ? {} : { cause });

async function readBytes(path: string, file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  if (bytesRead < length) throw damaged(path, 'it ends too early');
  return buffer;
}

async function readDirectory(path: string, file: FileHandle, size: number): Promise<Buffer> {
  const length = Math.min(size, MAX_END);
  const tail = await readBytes(path, file, size - length, length);
  for (let at = tail.length - 22; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END) continue;
    const bytes = tail.readUInt32LE(at + 12);
    const offset = tail.readUInt32LE(at + 16);
    if (bytes > LIMITS.files.zipDirectory || offset + bytes > size)
      throw damaged(path, 'its directory does not fit into it');
    return readBytes(path, file, offset, bytes);
  }
  throw damaged(path, 'it has no directory, so it is cut off or something else');
}

function findEntry(path: string, directory: Buffer, name: string): Entry | undefined {
  for (let at = 0; at + 46 <= directory.length; ) {
    if (directory.readUInt32LE(at) !== ENTRY) throw damaged(path, 'its directory is damaged');
    const nameLength = directory.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    if (directory.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      if (directory.readUInt16LE(at + 8) & ENCRYPTED) throw damaged(path, `${name} in it is encrypted`);
      return {
        method: directory.readUInt16LE(at + 10),
        compressed: directory.readUInt32LE(at + 20),
        size: directory.readUInt32LE(at + 24),
        offset: directory.readUInt32LE(at + 42),
      };
    }
    at = next;
  }
  return undefined;
}

async function readEntry(path: string, file: FileHandle, { method, compressed, size, offset }: Entry): Promise<string> {
  if (size > LIMITS.files.zipEntry || compressed > LIMITS.files.zipEntry)
    throw damaged(path, 'its manifest is larger than 1 MiB');
  const header = await readBytes(path, file, offset, 30);
  if (header.readUInt32LE(0) !== LOCAL) throw damaged(path, 'its directory points to the wrong place');
  const start = offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  const bytes = await readBytes(path, file, start, compressed);
  if (method !== 0 && method !== 8) throw damaged(path, 'its manifest is compressed in an unknown way');
  try {
    const content = method === 0 ? bytes : inflateRawSync(bytes, { maxOutputLength: LIMITS.files.zipEntry });
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (error) {
    throw damaged(path, 'its manifest cannot be unpacked', error);
  }
}
