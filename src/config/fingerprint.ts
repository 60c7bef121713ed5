/**
 * A configuration file in, one hash out that changes when it, or a file it visibly imports, extends or takes servers
 * from, changes. Covered are relative paths that stand in the text; a path put together by code is not, and files found
 * that way are asked about on their own.
 * @module
 */
import { createHash } from 'node:crypto';
import { basename, dirname, relative, resolve } from 'node:path';
import { ConfigurationError } from '../errors.ts';
import { namedFiles } from './named-files.ts';
import { readIfPresent } from './read-file.ts';

const ENDINGS = ['', '.ts', '.mts', '.js', '.mjs', '.json', '/index.ts', '/index.js'];
const MAX_FILES = 64;

/** What identifies a configuration as a person saw it. */
export interface Fingerprint {
  readonly hash: string;
  /** Absolute paths of every file the hash covers, the configuration first. */
  readonly files: readonly string[];
}

/** The fingerprint of a file whose text was already read. */
export async function fingerprintOf(path: string, text: string): Promise<Fingerprint> {
  const texts = new Map([[path, text]]);
  for (const [file, content] of texts) {
    for (const name of await namedFiles(file, content)) {
      if (texts.size >= MAX_FILES) break;
      await addNamed(texts, name, startsOf(file));
    }
  }
  const hash = createHash('sha256');
  for (const file of [...texts.keys()].sort()) {
    const content = createHash('sha256')
      .update(texts.get(file) ?? '')
      .digest('hex');
    hash.update(`${relative(dirname(path), file)}\n${content}\n`);
  }
  return { hash: hash.digest('hex'), files: [...texts.keys()] };
}

/** The folders a relative path may start from: the file's own, and for `.anygpt/…` the one that holds it. */
function startsOf(file: string): readonly string[] {
  const folder = dirname(file);
  return basename(folder) === '.anygpt' ? [folder, dirname(folder)] : [folder];
}

async function addNamed(texts: Map<string, string>, name: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (const ending of ENDINGS) {
      const file = resolve(folder, name + ending);
      if (texts.has(file)) break;
      const text = await readQuietly(file);
      if (text === undefined) continue;
      texts.set(file, text);
      break;
    }
  }
}

/** A folder, or a file no configuration can be, is not covered; loading it will say why. */
async function readQuietly(file: string): Promise<string | undefined> {
  try {
    return await readIfPresent(file);
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}
