/**
 * Failures that were the server's own answer, and those behind which an answer may still come.
 * @module
 */
import { ToolNotFoundError } from '../core/errors.ts';
import { JsonRpcError } from './json-rpc.ts';

/** Whether a failed call was answered by the server, so that nothing more is to come of it. */
export const wasAnswered = (error: unknown): boolean =>
  error instanceof ToolNotFoundError ||
  error instanceof JsonRpcError ||
  (error instanceof Error && error.cause instanceof JsonRpcError);
