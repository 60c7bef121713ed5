/**
 * Maps error codes to exit codes.
 * @module
 */
import type { ErrorCode } from '../core/errors.ts';
import { EXIT } from './io.ts';

const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  CONFIGURATION_ERROR: EXIT.notFound,
  VALIDATION_ERROR: EXIT.usage,
  SERVER_NOT_FOUND: EXIT.notFound,
  SERVER_CONNECTION_ERROR: EXIT.failed,
  SERVER_AUTH_REQUIRED: EXIT.failed,
  TOOL_NOT_FOUND: EXIT.notFound,
  TOOL_DISABLED: EXIT.refused,
  TOOL_NOT_APPROVED: EXIT.refused,
  TOOL_VALIDATION_ERROR: EXIT.usage,
  TOOL_EXECUTION_ERROR: EXIT.failed,
  TOOL_EXECUTION_TIMEOUT: EXIT.failed,
  SERVER_BUSY: EXIT.failed,
  SERVER_UNAVAILABLE: EXIT.failed,
  RATE_LIMITED: EXIT.failed,
  RESULT_TOO_LARGE: EXIT.failed,
  CANCELLED: EXIT.failed,
  SHUTTING_DOWN: EXIT.failed,
  STORAGE_ERROR: EXIT.failed,
};

export const exitCodeOf = (code: ErrorCode): number => EXIT_CODES[code];
