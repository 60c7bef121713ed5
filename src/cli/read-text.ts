/**
 * Reads the text of a file, or of stdin for `-`, up to a size limit.
 * @module
 */

import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expandHome } from '../config/paths.ts';
import { realWorld } from '../config/world.ts';
import { LIMITS } from '../core/limits.ts';
import type { Io } from './io.ts';
import { UsageError } from './usage-error.ts';

/** A text and where it came from, for messages. */
interface ReadText {
  readonly text: string;
  readonly from: string;
}

/** The path that an option names: `~` is the home folder, and relative paths start in the working folder. */
export const pathIn = (file: string, { env, cwd }: Pick<Io, 'env' | 'cwd'>): string =>
  resolve(cwd, expandHome(file, realWorld({ env, cwd })));

/** Reads the file that an option names. Throws `UsageError` if it cannot be read. */
export async function readText(file: string, option: string, io: Pick<Io, 'stdin' | 'cwd' | 'env'>): Promise<ReadText> {
  const from = file === '-' ? `stdin (${option})` : pathIn(file, io);
  const text = file === '-' ? await readAll(io.stdin, from) : await readWhole(from, option);
  // Some editors write a byte order mark.
  return { text: text.replace(/^\ufeff/, ''), from };
}

async function readWhole(path: string, option: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > LIMITS.wire.message) throw tooLarge(path);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${option} cannot read ${path}: ${(error as Error).message}`);
  }
}

async function readAll(stream: AsyncIterable<Uint8Array | string>, from: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk as Uint8Array));
    bytes += chunk.length;
    if (bytes > LIMITS.wire.message) throw tooLarge(from);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const tooLarge = (what: string): UsageError =>
  new UsageError(`${what} is larger than ${LIMITS.wire.message / 1024 / 1024} MiB`);
