/**
 * Tells failures that only a person can mend: a setting that is refused, a variable that is not set, a program that is not
 * there. Nothing is gained by leaving such a server alone for a while, and finding out again costs next to nothing.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';

/** Whether a person has to mend this, so that it is told at once every time and works as soon as it is mended. */
export function needsAPerson(error: unknown): boolean {
  if (!(error instanceof DiscoveryError)) return false;
  if (error.code === 'CONFIGURATION_ERROR') return true;
  // The operating system found nothing to start. A program that starts and ends is another matter: starting it costs.
  const { syscall } = (error.cause ?? {}) as { readonly syscall?: unknown };
  return error.details.retryable === false && typeof syscall === 'string' && syscall.startsWith('spawn');
}
