/**
 * Caches compiled code on disk, because compiling is the slowest part of a start. Each copy is encrypted with a key
 * derived from the source code. Only a reader who has the source, including any secrets in it, can decrypt the copy.
 * @module
 */
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../core/limits.ts';
import { seal, unseal } from '../disk/sealed-bytes.ts';

const PLACE = 'compiled';

/** Returns the compiled form of a source, from the cache or by calling `compile`. */
export function compiledCopy(folder: string | undefined, source: string, compile: () => string): string {
  if (folder === undefined) return compile();
  const key = createHash('sha256').update('key\n').update(source).digest();
  const file = join(folder, createHash('sha256').update('name\n').update(source).digest('hex'));
  const kept = readCopy(file, key);
  if (kept !== undefined) return kept;
  const code = compile();
  writeCopy(folder, file, key, code);
  return code;
}

function readCopy(file: string, key: Buffer): string | undefined {
  try {
    return unseal(readFileSync(file), key, PLACE)?.toString('utf8');
  } catch {
    return undefined;
  }
}

function writeCopy(folder: string, file: string, key: Buffer, code: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const aside = `${file}.${process.pid}`;
    writeFileSync(aside, seal(Buffer.from(code), key, PLACE), { mode: 0o600 });
    renameSync(aside, file);
    forgetOldest(folder);
  } catch {
    // If the copy cannot be saved, the code is compiled on every start.
  }
}

function forgetOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= LIMITS.files.compiled) return;
  const byAge = files.map((path) => ({ path, age: statSync(path).mtimeMs })).sort((a, b) => b.age - a.age);
  for (const { path } of byAge.slice(LIMITS.files.compiled)) rmSync(path, { force: true });
}
