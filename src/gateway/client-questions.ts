/**
 * Sends a server's questions to a client of the old protocol, and returns the answers.
 * @module
 */
import { JsonRpcError, type JsonRpcId, type JsonRpcMessage, METHOD_NOT_FOUND } from '../connections/json-rpc.ts';
import type { ServerRequest } from '../core/types.ts';

const CAPABILITY: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

interface Waiting {
  readonly resolve: (result: Record<string, unknown>) => void;
  readonly reject: (reason: Error) => void;
}

export class ClientQuestions {
  /** The client's capabilities. Questions that need other capabilities are refused. */
  capabilities: Readonly<Record<string, unknown>> = {};
  readonly #write: (message: JsonRpcMessage) => void;
  readonly #waiting = new Map<JsonRpcId, Waiting>();
  #asked = 0;
  #abandoned: Error | undefined;

  constructor(write: (message: JsonRpcMessage) => void) {
    this.#write = write;
  }

  readonly ask = (request: ServerRequest, signal?: AbortSignal): Promise<Record<string, unknown>> => {
    const gone = this.#abandoned ?? (signal?.aborted ? signal.reason : undefined);
    if (gone !== undefined) return Promise.reject(gone);
    const capability = CAPABILITY[request.method];
    if (!capability || !this.capabilities[capability]) {
      return Promise.reject(new JsonRpcError(METHOD_NOT_FOUND, `the client does not support ${request.method}`));
    }
    const id = `anygpt-${++this.#asked}`;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      signal?.addEventListener(
        'abort',
        () => {
          if (!this.#waiting.delete(id)) return;
          this.#write({
            jsonrpc: '2.0',
            method: 'notifications/cancelled',
            params: { requestId: id, reason: 'no longer needed' },
          });
          reject(signal.reason);
        },
        { once: true },
      );
      this.#write({ jsonrpc: '2.0', id, method: request.method, ...(request.params && { params: request.params }) });
    });
  };

  /** Handles the answer to a question. Returns false if the message answers none. */
  reply(message: JsonRpcMessage): boolean {
    const question = this.#waiting.get(message.id as JsonRpcId);
    if (!question) return false;
    this.#waiting.delete(message.id as JsonRpcId);
    if (message.error) question.reject(new JsonRpcError(message.error.code, message.error.message, message.error.data));
    else question.resolve((message.result ?? {}) as Record<string, unknown>);
    return true;
  }

  /** Rejects all open and future questions. */
  abandon(reason: Error): void {
    this.#abandoned ??= reason;
    for (const question of this.#waiting.values()) question.reject(reason);
    this.#waiting.clear();
  }
}
