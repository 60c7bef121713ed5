/**
 * Turns a file system error into an error that says what to do.
 * @module
 */

import { DiscoveryError } from '../core/errors.ts';
import { codeOf } from '../disk/file-error.ts';

const FULL = 'Free some disk space';
const FORBIDDEN = 'Check the permissions there, or choose another folder with ANYGPT_CACHE_DIR';
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['EFBIG', FULL],
  ['EACCES', FORBIDDEN],
  ['EPERM', FORBIDDEN],
  ['EROFS', FORBIDDEN],
  ['ENOENT', 'The folder cannot be created; choose another with ANYGPT_CACHE_DIR'],
  ['ENOTDIR', 'A part of the path is not a folder; choose another folder with ANYGPT_CACHE_DIR'],
  ['EMFILE', 'Too many files are open; raise the limit'],
  ['ENFILE', 'Too many files are open; raise the limit'],
]);

/** Returns a STORAGE_ERROR; a DiscoveryError passes through. */
export function storageError(verb: string, path: string, cause: unknown): DiscoveryError {
  if (cause instanceof DiscoveryError) return cause;
  const code = codeOf(cause);
  const why = code ?? (cause instanceof Error ? cause.message : String(cause));
  const advice = ADVICE.get(code);
  return new DiscoveryError('STORAGE_ERROR', `Cannot ${verb} ${path} (${why}).${advice ? ` ${advice}.` : ''}`, {
    cause,
  });
}
