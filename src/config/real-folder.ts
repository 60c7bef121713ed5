/**
 * The path of a folder in, one that can be compared out: links followed, no slash at the end, letters folded where the
 * platform does.
 * @module
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** What a folder is really called; one that is not there, what it would be called. */
export function realFolder(path: string, platform: NodeJS.Platform): string {
  const real = existing(path) ?? resolve(path);
  return platform === 'win32' ? real.toLowerCase() : real;
}

function existing(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Not there, or not ours to look at.
    return undefined;
  }
}
