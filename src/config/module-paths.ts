/**
 * Lists which files an import may mean, in the order they are tried: as written, the TypeScript source of an output
 * name, with an extension, as a folder with an index. The same order applies when files are hashed and when they run.
 * @module
 */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ENDINGS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json'] as const;
const OUTPUTS: Readonly<Record<string, string>> = { '.js': '.ts', '.mjs': '.mts', '.cjs': '.cts' };

/** Tells whether an import names a file rather than a package. */
export const isFilePath = (name: string): boolean => /^(?:\.{1,2}(?:\/|$)|\/|file:|[A-Za-z]:[\\/])/.test(name);

/** Returns the absolute paths an import may mean; none when it does not name a file. */
export function pathsOf(name: string, from: string): readonly string[] {
  const path = toPath(name, from);
  if (path === undefined || path.includes('\0')) return [];
  const output = /\.[cm]?js$/.exec(path)?.[0] ?? '';
  const source = OUTPUTS[output];
  return [
    path,
    ...(source === undefined ? [] : [path.slice(0, -output.length) + source]),
    ...ENDINGS.map((ending) => path + ending),
    ...ENDINGS.map((ending) => resolve(path, `index${ending}`)),
  ];
}

/** Drops a query or fragment, which makes another module of the same file. */
function toPath(name: string, from: string): string | undefined {
  if (!isFilePath(name)) return undefined;
  const bare = name.replace(/[?#].*$/s, '');
  if (!bare.startsWith('file:')) return resolve(dirname(from), bare);
  try {
    return fileURLToPath(bare);
  } catch {
    // A `file:` URL of another machine names no local file.
    return undefined;
  }
}
