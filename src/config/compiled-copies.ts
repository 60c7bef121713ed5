/**
 * Caches compiled code on disk, because compiling is the slowest part of a start. Each copy is encrypted with a key
 * derived from the source code. Only a reader who has the source, including any secrets in it, can decrypt the copy.
 * @module
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../core/limits.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

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
    const bytes = readFileSync(file);
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    // Missing, truncated or altered: compile again.
    return undefined;
  }
}

function writeCopy(folder: string, file: string, key: Buffer, code: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const body = Buffer.concat([cipher.update(code, 'utf8'), cipher.final()]);
    const aside = `${file}.${process.pid}`;
    writeFileSync(aside, Buffer.concat([nonce, cipher.getAuthTag(), body]), { mode: 0o600 });
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
