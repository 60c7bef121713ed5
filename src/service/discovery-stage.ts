/**
 * Tells which step of a discovery failed.
 * @module
 */
import { toServerError } from '../catalog/retry-policy.ts';
import { DiscoveryError, type DiscoveryStage, type ErrorCode } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

/** Codes that name the stage, whichever step they come from. */
const BY_CODE: Readonly<Partial<Record<ErrorCode, DiscoveryStage>>> = {
  RATE_LIMITED: 'rate-limit',
  SERVER_AUTH_REQUIRED: 'authentication',
  TOOL_EXECUTION_TIMEOUT: 'timeout',
};

/** Returns an error with its stage: what its code or its cause says, else the step that it was thrown in. */
export function staged(thrown: unknown, server: string, step: 'connecting' | DiscoveryStage): DiscoveryError {
  const error = toServerError(thrown, server);
  if (error.details.stage !== undefined) return error;
  const codes = causeCodes(error);
  const stage =
    BY_CODE[error.code] ??
    (codes.includes('ETIMEDOUT') ? 'timeout' : undefined) ??
    // A network or a program that gives no connection says so with a code of the operating system.
    (step === 'connecting' ? (codes.length > 0 ? 'connection' : 'session') : step);
  return new DiscoveryError(error.code, error.message, { server, ...error.details, stage, cause: error.cause });
}

/** The codes of the operating system among the causes of an error. */
function causeCodes(error: Error): readonly string[] {
  const codes: string[] = [];
  let inner: unknown = error.cause;
  for (let depth = 0; depth < LIMITS.text.causes && inner instanceof Error; depth++) {
    const { code } = inner as { readonly code?: unknown };
    if (typeof code === 'string' && /^(?:E[A-Z]+$|UND_ERR|ERR_INVALID_URL)/.test(code)) codes.push(code);
    // An AggregateError holds one error per address of a host name.
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  return codes;
}
