/**
 * Recognises failures that only a person can fix: a refused setting, a missing variable, a missing program, a login. Waiting
 * does not help with these, and the next attempt costs almost nothing.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import { LoginNeeded } from './credentials.ts';

/**
 * Tells whether a person has to fix this. Such a failure is reported on every attempt, and the server works as soon as
 * it is fixed.
 */
export function needsAPerson(error: unknown): boolean {
  if (!(error instanceof DiscoveryError)) return false;
  if (error.code === 'CONFIGURATION_ERROR' || error.cause instanceof LoginNeeded) return true;
  // The operating system found nothing to start. A program that starts and exits is different: each start costs.
  const { syscall } = (error.cause ?? {}) as { readonly syscall?: unknown };
  return error.details.retryable === false && typeof syscall === 'string' && syscall.startsWith('spawn');
}
