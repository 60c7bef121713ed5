/**
 * Maps our error codes to the four that an agent loop handles. The precise code stays in `details`.
 * @module
 */
import { ERROR_CODES, type ErrorCode, type ErrorDetails, type ErrorInfo, isRetryableCode } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { fail, type ToolResult, toFailure } from '../../core/result.ts';
import type { CallToolResult } from '../../core/types.ts';
import { isObject } from '../../json/plain-object.ts';
import type { DiscoverySummary } from './tool-table.ts';

/** Every code a `RegistryResult` can show. */
export const TOOL_ERROR_CODES = [
  'TOOL_NOT_IMPLEMENTED',
  'TOOL_INVALID_INPUT',
  'TOOL_UNAVAILABLE',
  'TOOL_EXECUTION_FAILED',
] as const;

/** One of the four codes. */
export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number];

/** An error with a code for the loop and a message for the model. */
export interface ToolError {
  readonly code: ToolErrorCode;
  readonly message: string;
  /** Whether a retry of the same call may succeed. */
  readonly retryable: boolean;
  /** The precise code and its details: server, tool, suggestions, the violated part of the schema. */
  readonly details: ErrorInfo;
  /** After a discovery: the errors of servers. */
  readonly failures?: readonly ErrorInfo[];
  /** After a discovery: the tools that are available nevertheless, from other servers and from earlier discoveries. */
  readonly discovered?: DiscoverySummary;
  /** The tool's own result, if the tool ran and reported a failure. */
  readonly result?: CallToolResult;
}

/** `{success: true, data}`, or `{success: false, error}` with one of the four codes. */
export type RegistryResult<T> = ToolResult<T, ToolError>;

/** The one table from our codes to the four. */
const TOOL_ERROR_CODE_OF: Readonly<Record<ErrorCode, ToolErrorCode>> = {
  CONFIGURATION_ERROR: 'TOOL_INVALID_INPUT',
  VALIDATION_ERROR: 'TOOL_INVALID_INPUT',
  TOOL_VALIDATION_ERROR: 'TOOL_INVALID_INPUT',
  TOOL_NOT_FOUND: 'TOOL_NOT_IMPLEMENTED',
  SERVER_NOT_FOUND: 'TOOL_UNAVAILABLE',
  SERVER_CONNECTION_ERROR: 'TOOL_UNAVAILABLE',
  SERVER_AUTH_REQUIRED: 'TOOL_UNAVAILABLE',
  SERVER_BUSY: 'TOOL_UNAVAILABLE',
  SERVER_UNAVAILABLE: 'TOOL_UNAVAILABLE',
  RATE_LIMITED: 'TOOL_UNAVAILABLE',
  SHUTTING_DOWN: 'TOOL_UNAVAILABLE',
  TOOL_DISABLED: 'TOOL_UNAVAILABLE',
  TOOL_NOT_APPROVED: 'TOOL_UNAVAILABLE',
  TOOL_EXECUTION_ERROR: 'TOOL_EXECUTION_FAILED',
  TOOL_EXECUTION_TIMEOUT: 'TOOL_EXECUTION_FAILED',
  RESULT_TOO_LARGE: 'TOOL_EXECUTION_FAILED',
  CANCELLED: 'TOOL_EXECUTION_FAILED',
  STORAGE_ERROR: 'TOOL_EXECUTION_FAILED',
};

/** The error of a result, with one of the four codes. */
const toToolError = (details: ErrorInfo): ToolError => ({
  code: TOOL_ERROR_CODE_OF[details.code],
  message: details.message,
  retryable: details.retryable,
  details,
});

/** Converts a failure to one with one of the four codes. A success stays as it is. */
export const toRegistryResult = <T>(result: ToolResult<T>): RegistryResult<T> =>
  result.success ? result : { success: false, error: toToolError(result.error) };

/** Converts the error of a list that could not be read: always to TOOL_UNAVAILABLE, unless the server's entry is wrong. */
export function toDiscoveryError(details: ErrorInfo): ToolError {
  const error = toToolError(details);
  return error.code === 'TOOL_INVALID_INPUT' ? error : { ...error, code: 'TOOL_UNAVAILABLE' };
}

/** `toDiscoveryError` as a result. */
export const toDiscoveryFailure = (details: ErrorInfo): RegistryResult<never> => ({
  success: false,
  error: toDiscoveryError(details),
});

/** Creates a failure from one of our codes. */
export const refuse = (code: ErrorCode, message: string, details: ErrorDetails = {}): RegistryResult<never> =>
  toRegistryResult(fail(code, message, { outcome: 'not_sent', ...details }));

/** Removes the full stop of a message, to embed it in another. */
export function withoutStop(message: string): string {
  let end = message.length;
  while (end > 0 && '. '.includes(message.charAt(end - 1))) end--;
  return message.slice(0, end);
}

/** Converts a thrown value to a failure. An unexpected one becomes TOOL_EXECUTION_FAILED. */
export function toRegistryFailure(thrown: unknown, details: ErrorDetails = {}): RegistryResult<never> {
  const failure = toFailure(thrown, { retryable: isRetryable(thrown), ...details });
  return toRegistryResult(failure);
}

/** Error codes of Node, undici and fetch for temporary failures. */
const PASSING: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'EBUSY',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'EMFILE',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);
const PASSING_STATUS: ReadonlySet<unknown> = new Set([408, 425, 429, 502, 503, 504, 529]);

/**
 * Tells whether a retry may help. Takes a failed result, its error, or any thrown value.
 * @example
 * const result = await registry.callTool(name, input);
 * if (!result.success && isRetryable(result.error)) await retryLater();
 */
export function isRetryable(error: unknown): boolean {
  try {
    return mayPass(error);
  } catch {
    // A thrown value can be anything, even an object whose properties throw.
    return false;
  }
}

function mayPass(error: unknown): boolean {
  let at: unknown = error;
  for (let step = 0; step < LIMITS.text.causes && isObject(at); step++) {
    if (at.success === true) return false;
    if (at.success === false) at = at.error;
    if (!isObject(at)) return false;
    const known = verdict(at);
    if (known !== undefined) return known;
    at = at.cause ?? (at as { error?: unknown }).error;
  }
  return false;
}

/** Whether this one object is retryable; undefined if it does not say, and its cause may. */
function verdict(error: Readonly<Record<string, unknown>>): boolean | undefined {
  if (typeof error.retryable === 'boolean') return error.retryable;
  const { details, code, name } = error;
  if (isObject(details) && typeof details.retryable === 'boolean') return details.retryable;
  if (typeof code === 'string' && Object.hasOwn(TOOL_ERROR_CODE_OF, code)) return isRetryableCode(code as ErrorCode);
  if (name === 'AbortError') return false;
  if (name === 'TimeoutError' || PASSING.has(code)) return true;
  const status = error.status ?? error.statusCode;
  return typeof status === 'number' ? PASSING_STATUS.has(status) : undefined;
}

/**
 * Converts a result with `isError` to a failure that carries the result. If a tool of the program (`server` null) returned
 * one of this package's own errors, that error is used instead.
 */
export function toReportedFailure(result: CallToolResult, server: string | null, tool: string): RegistryResult<never> {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const texts = blocks.map((block) => block?.text).filter((text) => typeof text === 'string');
  const own = server === null ? readFailure(texts) : undefined;
  const message = texts.join('\n').slice(0, LIMITS.text.error) || `${tool} failed and did not say why.`;
  const where = { ...(server !== null && { server }), tool };
  if (own) return { success: false, error: toToolError(own) };
  const details = { code: 'TOOL_EXECUTION_ERROR', message, ...where, retryable: false, outcome: 'failed' } as const;
  return { success: false, error: { ...toToolError(details), result } };
}

/** The error in `{"success": false, "error": {…}}`. */
function readFailure([text]: readonly string[]): ErrorInfo | undefined {
  if (!text?.startsWith('{"success":false,')) return undefined;
  try {
    const { error } = JSON.parse(text) as { error?: Partial<ErrorInfo> | null };
    const { code, message, retryable } = error ?? {};
    const isOurs = ERROR_CODES.some((known) => known === code) && typeof message === 'string';
    return isOurs && typeof retryable === 'boolean' ? (error as ErrorInfo) : undefined;
  } catch {
    // Not one of our errors.
    return undefined;
  }
}

/**
 * Returns the result for the model: the tool's own answer, or a text that says what went wrong.
 * @example
 * const answer = toModelResult(await registry.callTool(block.name, block.input));
 */
export function toModelResult(result: RegistryResult<CallToolResult>): CallToolResult {
  if (result.success) return result.data;
  const { error } = result;
  if (error.result) return error.result;
  const { retryable: _retryable, code: _code, message: _message, ...more } = error.details;
  const told = { code: error.code, message: error.message, retryable: error.retryable, ...more };
  return { content: [{ type: 'text', text: JSON.stringify({ success: false, error: told }) }], isError: true };
}
