/**
 * Turns a failure on a connection into an error that says what became of the request.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import { DiscoveryError, type ErrorCode } from '../core/errors.ts';
import type { Redact } from '../secrets/redactor.ts';
import { HttpStatusError } from './http-status-error.ts';
import { JsonRpcError, NotReadError, NotSentError, UnsendableError } from './json-rpc.ts';
import { PeerClosedError } from './peer.ts';
import { sentence, shortText } from './short-text.ts';

/**
 * Returns the error for a caller: what happened, and whether the request may have had an effect. Error answers are
 * returned unchanged.
 */
export function explainFailure(
  error: unknown,
  signal: CallSignal | undefined,
  server: string,
  obituary: () => string | undefined,
  redact: Redact,
): unknown {
  if (error instanceof DiscoveryError || error instanceof JsonRpcError || signal?.aborted) return error;
  const notSent = (code: ErrorCode, message: string) =>
    new DiscoveryError(code, message, { server, outcome: 'not_sent', cause: error });
  if (error instanceof NotReadError)
    return notSent('SERVER_BUSY', `${server} is too busy to be asked: ${error.message}.`);
  if (error instanceof UnsendableError)
    return notSent('TOOL_VALIDATION_ERROR', `${server} was not asked: ${error.message}.`);
  if (error instanceof NotSentError)
    return notSent('SERVER_CONNECTION_ERROR', sentence(`${server} is gone: ${error.message}`));
  // Retryable as far as the server is concerned. The retry step decides whether the call may be repeated.
  const unknown = (code: ErrorCode, message: string, retryable: boolean) =>
    new DiscoveryError(code, message, { server, outcome: 'unknown', retryable, cause: error });
  if (error instanceof PeerClosedError) {
    const how = obituary() ?? error.message;
    return unknown('SERVER_CONNECTION_ERROR', `${server} ended before it answered (${how}).`, true);
  }
  const message = sentence(`${server}: ${shortText(error instanceof Error ? error.message : String(error), redact)}`);
  // A status tells what the server thinks of the request, not whether it acted on it.
  const isRefusal = error instanceof HttpStatusError && error.status < 500;
  return unknown('TOOL_EXECUTION_ERROR', message, !isRefusal);
}
