/**
 * Finds the file that a command would start, as the operating system would.
 * @module
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { LIMITS } from '../core/limits.ts';

/** Where to look for a command. */
interface CommandWorld {
  /** The search path of the process that will be started. */
  readonly path: string | undefined;
  /** Windows only: extensions of programs. */
  readonly pathExt?: string | undefined;
  /** The folder a relative command starts from. */
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
}

/** Looks where the operating system would look. Starts nothing. */
export function findCommand(command: string, { path, pathExt, cwd, platform }: CommandWorld): string | undefined {
  const isWindows = platform === 'win32';
  const endings = isWindows ? ['', ...(pathExt ?? '.COM;.EXE;.BAT;.CMD').split(';')] : [''];
  const hasFolder = command.includes('/') || (isWindows && command.includes('\\'));
  const folders = hasFolder
    ? [cwd]
    : (path ?? '').split(isWindows ? ';' : delimiter).slice(0, LIMITS.files.commandFolders);
  for (const folder of folders) {
    const place = isAbsolute(command) ? command : join(resolve(cwd, folder), command);
    const found = endings.map((ending) => place + ending).find((file) => isProgram(file, isWindows));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isProgram(file: string, isWindows: boolean): boolean {
  try {
    if (!statSync(file).isFile()) return false;
    accessSync(file, isWindows ? constants.F_OK : constants.X_OK);
    return true;
  } catch {
    // A file that cannot be read cannot be started.
    return false;
  }
}
