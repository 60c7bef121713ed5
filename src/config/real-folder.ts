/**
 * Normalises a folder's path for comparison: links followed, no trailing slash, lower case where the platform ignores
 * case.
 * @module
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** Returns the real path of a folder, or the resolved path if it does not exist. */
export function realFolder(path: string, platform: NodeJS.Platform): string {
  const real = existing(path) ?? resolve(path);
  return platform === 'win32' ? real.toLowerCase() : real;
}

function existing(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Missing, or not accessible.
    return undefined;
  }
}
