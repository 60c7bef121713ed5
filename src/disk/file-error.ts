/**
 * Reads the errors of file operations, and turns them into errors that say what was not done.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';

/** Returns the code of a failed file operation. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** For `catch`: returns undefined if the file or folder does not exist, and throws any other error. */
export function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

/** Returns the STORAGE_ERROR of a file that could not be written; a DiscoveryError passes through. */
export function unwritable(path: string, cause: unknown): DiscoveryError {
  if (cause instanceof DiscoveryError) return cause;
  const code = codeOf(cause) ?? String(cause);
  const why = ['EACCES', 'EPERM', 'EROFS'].includes(code) ? 'may not be written by this user' : 'could not be written';
  return new DiscoveryError('STORAGE_ERROR', `${path} ${why} (${code}). Nothing was changed.`, { cause });
}
