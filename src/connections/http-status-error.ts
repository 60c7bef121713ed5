/**
 * Defines the error for an HTTP answer that is neither a success nor JSON-RPC.
 * @module
 */

/** The server answered with an error status and without JSON-RPC. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;

  constructor(status: number, text: string) {
    super(`it answered HTTP ${status}${text ? `: ${text}` : ''}`);
    this.status = status;
  }
}
