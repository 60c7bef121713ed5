/**
 * A failure of the file system in, an error out that says what to do about it.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';

const FULL = 'Free some disk space';
const FORBIDDEN = 'Check who may write there, or choose another folder with ANYGPT_CACHE_DIR';
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['EFBIG', FULL],
  ['EACCES', FORBIDDEN],
  ['EPERM', FORBIDDEN],
  ['EROFS', FORBIDDEN],
  ['ENOENT', 'The folder cannot be made; choose another with ANYGPT_CACHE_DIR'],
  ['ENOTDIR', 'Something that is not a folder is in the way; choose another with ANYGPT_CACHE_DIR'],
  ['EMFILE', 'Too many files are open; raise the limit'],
  ['ENFILE', 'Too many files are open; raise the limit'],
]);

/** The error code of a failed file operation. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** A STORAGE_ERROR; one that is ours already passes through. */
export function storageError(verb: string, path: string, cause: unknown): DiscoveryError {
  if (cause instanceof DiscoveryError) return cause;
  const code = codeOf(cause);
  const why = code ?? (cause instanceof Error ? cause.message : String(cause));
  const advice = ADVICE.get(code);
  return new DiscoveryError('STORAGE_ERROR', `Cannot ${verb} ${path} (${why}).${advice ? ` ${advice}.` : ''}`, {
    cause,
  });
}
