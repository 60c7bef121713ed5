/**
 * A path out of a `${file:…}` or `${envFile:…#NAME}` reference in, the value it stands for out. Read at the moment a
 * connection opens, so that the secret in it is in no configuration; bounded, regular files only.
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { parseDotenv } from './dotenv.ts';
import { digest } from './project-snapshot.ts';

/** The file a reference names, and the variable in it when it is a dotenv file. */
export interface FileReference {
  readonly file: string;
  readonly variable: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The value of a file reference.
 * @param where what needs it, for the message; messages never hold a part of the file
 */
export function readReferencedFile({ file, variable }: FileReference, env: Environment, where: string): string {
  const [, hash, path = file] = PINNED.exec(file) ?? [];
  const text = readSmallFile(toAbsolute(path, env, where), where, hash);
  if (variable === undefined) return text.trim();
  const value = parseDotenv(text).get(variable);
  if (value !== undefined) return value;
  throw new ConfigurationError(`The file ${path} does not set ${variable}; ${where} needs it.`);
}

/** A file of a project, with the content it was trusted with. */
const PINNED = /^sha256-([0-9a-f]{64}):(.*)$/s;

/**
 * The text of a small file.
 * @param hash what its content must be
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
