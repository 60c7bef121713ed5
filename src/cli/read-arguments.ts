/**
 * What stands after `--args` in, the arguments as an object out: JSON, `@file`, or `-` for stdin.
 * @module
 */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Io } from './io.ts';
import { UsageError } from './usage-error.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** Reads arguments; nothing written means none. Throws `UsageError` for what is not a JSON object. */
export async function readArguments(
  written: string | undefined,
  io: Pick<Io, 'stdin' | 'cwd'>,
): Promise<Readonly<Record<string, unknown>>> {
  if (written === undefined) return {};
  if (written === '-') return parsed(await readAll(io.stdin), 'what stdin gave for --args');
  if (!written.startsWith('@')) return parsed(written, '--args');
  const path = resolve(io.cwd, written.slice(1));
  return parsed(await readText(path), path);
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw tooLarge(path);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--args cannot read ${path}: ${(error as Error).message}`);
  }
}

async function readAll(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk as Uint8Array));
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw tooLarge('what stdin gave for --args');
  }
  return Buffer.concat(chunks).toString('utf8');
}

const tooLarge = (what: string): UsageError => new UsageError(`${what} is larger than ${MAX_BYTES / 1024 / 1024} MiB`);

function parsed(text: string, what: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    // Some editors begin a file with a byte order mark.
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${what} must be a JSON object, for example {"name": "value"}`);
  return value as Readonly<Record<string, unknown>>;
}
