/**
 * Reads the value of a `${file:…}` or `${envFile:…#NAME}` reference. Reads the file only when a connection opens, so
 * that its secret is in no configuration. Accepts regular files of limited size.
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { digest } from './content-digest.ts';
import { parseDotenv } from './dotenv.ts';

/** The file a reference names, and the variable in it when it is a dotenv file. */
export interface FileReference {
  readonly file: string;
  readonly variable: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the value of a file reference.
 * @param where what needs the value, for the error message; messages never quote the file
 */
export function readReferencedFile({ file, variable }: FileReference, env: Environment, where: string): string {
  const [, hash, path = file] = PINNED.exec(file) ?? [];
  const text = readSmallFile(toAbsolute(path, env, where), where, hash);
  if (variable === undefined) return text.trim();
  const value = parseDotenv(text).get(variable);
  if (value !== undefined) return value;
  throw new ConfigurationError(`The file ${path} does not set ${variable}; ${where} needs it.`);
}

/** A project's file and the hash of its trusted content. */
const PINNED = /^sha256-([0-9a-f]{64}):(.*)$/s;

/**
 * Reads the text of a small file.
 * @param hash the hash its content must have
 */
export function readSmallFile(path: string, where: string, hash?: string): string {
  const refuse = (what: string, cause?: unknown) =>
    new ConfigurationError(`The file ${path} ${what}; ${where} needs it.`, [], cause === undefined ? {} : { cause });
  try {
    const info = statSync(path);
    if (!info.isFile()) throw refuse('is not a regular file');
    if (info.size > LIMITS.files.referenced) throw refuse(`is larger than ${LIMITS.files.referenced / 1024} KiB`);
    const bytes = readFileSync(path);
    if (hash !== undefined && digest(bytes) !== hash)
      throw refuse('is not what was trusted with this project; run `anygpt mcp trust` again');
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw refuse(code === 'ENOENT' ? 'was not found' : `cannot be read (${code ?? String(error)})`, error);
  }
}

function toAbsolute(path: string, env: Environment, where: string): string {
  const home = env.HOME ?? env.USERPROFILE;
  const full = home !== undefined && /^~[/\\]/.test(path) ? join(home, path.slice(2)) : path;
  if (isAbsolute(full)) return full;
  throw new ConfigurationError(`The file ${path} must be an absolute path or begin with ~/; ${where} needs it.`);
}
