/**
 * Defines one error class and one list of codes. Codes are the contract; messages say what happened, where, and what to
 * do next.
 * @module
 */
import { shorten } from '../text/plain-text.ts';
import { LIMITS } from './limits.ts';

/** Every code an error of this package can have. */
export const ERROR_CODES = [
  'CONFIGURATION_ERROR',
  'VALIDATION_ERROR',
  'SERVER_NOT_FOUND',
  'SERVER_CONNECTION_ERROR',
  'SERVER_AUTH_REQUIRED',
  'TOOL_NOT_FOUND',
  'TOOL_DISABLED',
  'TOOL_NOT_APPROVED',
  'TOOL_VALIDATION_ERROR',
  'TOOL_EXECUTION_ERROR',
  'TOOL_EXECUTION_TIMEOUT',
  'SERVER_BUSY',
  'SERVER_UNAVAILABLE',
  'RATE_LIMITED',
  'RESULT_TOO_LARGE',
  'CANCELLED',
  'SHUTTING_DOWN',
  'STORAGE_ERROR',
] as const;

/** One of `ERROR_CODES`. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The outcome of a failed call: it was never sent, it is unknown, or the server reported a failure. */
export type Outcome = 'not_sent' | 'unknown' | 'failed';

/** The error object that agents and scripts see. */
export interface ErrorInfo {
  readonly code: ErrorCode;
  readonly message: string;
  readonly server?: string;
  readonly tool?: string;
  readonly retryable: boolean;
  readonly outcome?: Outcome;
  readonly retryAfterMs?: number;
  readonly suggestions?: readonly string[];
  /** The part of the schema that the arguments violated. */
  readonly schema?: unknown;
  /** The step of a discovery that failed; only in errors of the discovery service. */
  readonly stage?: 'connection' | 'session' | 'list' | 'conversion' | 'rate-limit' | 'authentication' | 'timeout';
}

/** The step of a discovery that failed. */
export type DiscoveryStage = NonNullable<ErrorInfo['stage']>;

/** Optional details of an error. */
export interface ErrorDetails {
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly retryable?: boolean | undefined;
  readonly outcome?: Outcome | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly suggestions?: readonly string[] | undefined;
  readonly schema?: unknown;
  readonly stage?: DiscoveryStage | undefined;
  readonly cause?: unknown;
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_CONNECTION_ERROR',
  'TOOL_EXECUTION_TIMEOUT',
  'SERVER_BUSY',
  'SERVER_UNAVAILABLE',
  'RATE_LIMITED',
]);

/** Tells whether a retry may succeed after an error with this code. */
export const isRetryableCode = (code: ErrorCode): boolean => RETRYABLE.has(code);

/** Everything this package throws. */
export class DiscoveryError extends Error {
  override readonly name: string = 'DiscoveryError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get server(): string | undefined {
    return this.details.server;
  }

  get tool(): string | undefined {
    return this.details.tool;
  }

  /** Returns a plain object for results and `--json`, without absent fields. */
  toInfo(): ErrorInfo {
    const { server, tool, retryable, outcome, retryAfterMs, suggestions, schema, stage } = this.details;
    return {
      code: this.code,
      message: this.message,
      ...(server !== undefined && { server: nameIn(server) }),
      ...(tool !== undefined && { tool: nameIn(tool) }),
      retryable: retryable ?? isRetryableCode(this.code),
      ...(outcome !== undefined && { outcome }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(suggestions?.length && { suggestions }),
      ...(schema !== undefined && { schema }),
      ...(stage !== undefined && { stage }),
    };
  }
}

/** A name of any length may have been asked for. */
const nameIn = (name: string): string => shorten(String(name), LIMITS.names.tool);

/** A mistake in a configuration file, with every problem found in it. */
export class ConfigurationError extends DiscoveryError {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(message: string, problems: readonly string[] = [], details: ErrorDetails = {}) {
    super('CONFIGURATION_ERROR', message, details);
    this.problems = problems;
  }
}

/** A programming mistake in a call of this library. */
export class ValidationError extends DiscoveryError {
  override readonly name = 'ValidationError';
  constructor(message: string, details: ErrorDetails = {}) {
    super('VALIDATION_ERROR', message, details);
  }
}

/** A server could not be reached. */
export class ServerConnectionError extends DiscoveryError {
  override readonly name = 'ServerConnectionError';
  constructor(server: string, message: string, details: ErrorDetails = {}) {
    super('SERVER_CONNECTION_ERROR', message, { outcome: 'not_sent', ...details, server });
  }
}

/** A server was reached and the call failed there. */
export class ToolExecutionError extends DiscoveryError {
  override readonly name = 'ToolExecutionError';
  constructor(server: string, tool: string, message: string, details: ErrorDetails = {}) {
    super('TOOL_EXECUTION_ERROR', message, { ...details, server, tool });
  }
}

/** Thrown by a provider for a tool that is not its own. */
export class ToolNotFoundError extends DiscoveryError {
  override readonly name = 'ToolNotFoundError';
  constructor(tool: string);
  constructor(server: string, tool: string, message?: string, details?: ErrorDetails);
  /** Not tied to a server. */
  constructor(tool: string, server: undefined, message: string, details?: ErrorDetails);
  constructor(first: string, second?: string, message?: string, details: ErrorDetails = {}) {
    const [server, tool] = second === undefined ? [undefined, first] : [first, second];
    const where = server === undefined ? '' : ` on server "${nameIn(server)}"`;
    super('TOOL_NOT_FOUND', message ?? `No tool "${nameIn(tool)}"${where}.`, {
      outcome: 'not_sent',
      ...details,
      server,
      tool,
    });
  }
}
