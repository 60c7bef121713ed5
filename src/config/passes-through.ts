/**
 * A path in, whether whoever writes in a folder decides where it leads out. Every link on the way is followed, as the system
 * does, and each folder that is reached is compared.
 * @module
 */
import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';
import { LIMITS } from '../core/limits.ts';

/**
 * Whether the way to a path goes through a folder, wherever it leads from there. A path that is not absolute, or whose way
 * cannot be known, counts as one that does.
 */
export function passesThrough(path: string, folder: string): boolean {
  if (!isAbsolute(path)) return true;
  try {
    return walk(path, folder);
  } catch (error) {
    // What is not there was looked for in a folder that is not the one in question.
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
    // What is reached has no links left in it, so the folder above it is the one above its path.
    at = next === '..' ? dirname(at) : join(at, next);
  }
}

const partsOf = (path: string): string[] =>
  path
    .slice(parse(path).root.length)
    .split(sep === '\\' ? /[\\/]/ : '/')
    .filter((part) => part !== '' && part !== '.');
