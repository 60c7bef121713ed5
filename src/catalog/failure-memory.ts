/**
 * Remembers across starts which servers could not be listed, so that the first search of a session does not wait for
 * them. Such servers are retried in the background.
 * @module
 */
import { DiscoveryError, ERROR_CODES, type ErrorCode } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { oneLine } from '../text/plain-text.ts';

/** A failure in its saved form. */
export interface KeptFailure {
  readonly code: ErrorCode;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Errors of the server. Errors of our own, such as a full queue, do not predict the next attempt. */
const KEPT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_CONNECTION_ERROR',
  'SERVER_UNAVAILABLE',
  'SERVER_AUTH_REQUIRED',
  'RATE_LIMITED',
  'TOOL_EXECUTION_TIMEOUT',
  'TOOL_EXECUTION_ERROR',
]);

/** The saved form of a failure, if it is worth saving. */
export const toKept = ({ code, message }: DiscoveryError, at: number): KeptFailure | undefined =>
  KEPT.has(code) ? { code, reason: oneLine(message, LIMITS.text.reason), at } : undefined;

/** Restores the failure of an earlier process. It is shown until the server has been asked again. */
export const fromKept = (server: string, { code, reason }: KeptFailure): DiscoveryError =>
  new DiscoveryError(code, reason.startsWith(LAST_TIME) ? reason : `${LAST_TIME}${reason}`, { server });

const LAST_TIME = 'failed last time: ';

/** Reads a saved failure that is still recent; undefined for anything else. Clocks may jump either way. */
export function readKept(data: unknown, now: number): KeptFailure | undefined {
  if (!isObject(data)) return undefined;
  const { code, reason, at } = data;
  if (!ERROR_CODES.some((known) => known === code) || typeof reason !== 'string' || typeof at !== 'number')
    return undefined;
  return Math.abs(now - at) < LIMITS.age.failure ? { code: code as ErrorCode, reason, at } : undefined;
}
