/**
 * Tells whether a path depends on a folder, so that a writer of that folder decides where the path leads. Follows every
 * link, as the system does, and compares each folder on the way.
 * @module
 */
import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';
import { LIMITS } from '../core/limits.ts';

/**
 * Tells whether the path passes through a folder, wherever it leads from there. A relative path, or one that cannot be
 * followed, counts as passing through.
 */
export function passesThrough(path: string, folder: string): boolean {
  if (!isAbsolute(path)) return true;
  try {
    return walk(path, folder);
  } catch (error) {
    // A missing part was looked up outside the folder in question.
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ENOENT' && code !== 'ENOTDIR';
  }
}

function walk(path: string, folder: string): boolean {
  const wanted = statSync(folder, { bigint: true });
  let at = parse(path).root;
  const rest = partsOf(path);
  for (let links = 0; ; ) {
    const info = lstatSync(at, { bigint: true });
    if (info.dev === wanted.dev && info.ino === wanted.ino) return true;
    if (info.isSymbolicLink()) {
      if (++links > LIMITS.files.links) return true;
      const target = readlinkSync(at);
      rest.unshift(...partsOf(target));
      at = isAbsolute(target) ? parse(target).root : dirname(at);
      continue;
    }
    const next = rest.shift();
    if (next === undefined) return false;
    // The current position has no links left, so its parent is the parent of its path.
    at = next === '..' ? dirname(at) : join(at, next);
  }
}

const partsOf = (path: string): string[] =>
  path
    .slice(parse(path).root.length)
    .split(sep === '\\' ? /[\\/]/ : '/')
    .filter((part) => part !== '' && part !== '.');
