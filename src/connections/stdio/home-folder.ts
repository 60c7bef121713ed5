/**
 * Finds the folder that servers without a `cwd` start in: the user's home. The folder that a client works in may be a
 * cloned repository, whose files could replace those of a server.
 * @module
 */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, parse } from 'node:path';
import type { Environment } from '../open-options.ts';

/** Returns the user's home; if there is none, as in some containers, the root of the file system. */
export function homeFolder(env: Environment, platform: NodeJS.Platform = process.platform): string {
  const named = platform === 'win32' ? env.USERPROFILE : env.HOME;
  const home = named && isAbsolute(named) ? named : homedir();
  return isFolder(home) ? home : parse(process.execPath).root;
}

function isFolder(path: string): boolean {
  try {
    return isAbsolute(path) && statSync(path).isDirectory();
  } catch {
    // It does not exist or may not be read.
    return false;
  }
}
