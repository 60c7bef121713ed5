/**
 * Tells failures that are the server's own answer from those after which an answer may still come.
 * @module
 */
import { ToolNotFoundError } from '../core/errors.ts';
import { JsonRpcError } from './json-rpc.ts';

/** Tells whether the server answered a failed call, so that nothing more will come. */
export const wasAnswered = (error: unknown): boolean =>
  error instanceof ToolNotFoundError ||
  error instanceof JsonRpcError ||
  (error instanceof Error && error.cause instanceof JsonRpcError);
