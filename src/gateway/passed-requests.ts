/**
 * What surrounds a request that one replica passes on to another: who is asking, its end, and what its client is told
 * when the other replica is gone.
 * @module
 */
import type { Identity } from '../auth/identity.ts';
import type { LastWords, PassedRequest } from '../cluster/request-relay.ts';
import { META } from '../connections/handshake.ts';
import { INTERNAL_ERROR } from '../connections/json-rpc.ts';
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { isObject } from '../json/plain-object.ts';
import { failure } from '../meta-tools/answers.ts';
import { messageOf } from '../text/thrown-message.ts';
import { rpcFault } from './rpc-fault.ts';

/** The end of a request that another replica has passed on: closed once its signal aborts. */
export class PassedResponse {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  once(_event: 'close', listener: () => void): void {
    this.#signal.addEventListener('abort', listener, { once: true });
  }

  get closed(): boolean {
    return this.#signal.aborted;
  }

  get destroyed(): boolean {
    return this.#signal.aborted;
  }

  /** A session is never opened for another replica, so it never ends with its first answer. */
  get writableFinished(): boolean {
    return true;
  }
}

/** Who is asking. Only replicas can seal a message, and each has checked its client. */
export function callerOf(caller: unknown): { identity: Identity | undefined; profile: string | undefined } {
  const { identity, profile } = isObject(caller) ? caller : {};
  return { identity: identity as Identity | undefined, profile: profile as string | undefined };
}

/**
 * The answer to a request, or to a batch of them, whose replica is gone. It is never 503 for what may have been executed:
 * balancers repeat a request after 503.
 */
export function goneAnswer({ body }: PassedRequest, error: unknown): Response {
  const messages = [body].flat().flatMap((one) => (isObject(one) ? (goneMessage(one, error) ?? []) : []));
  if (messages.length > 0) return Response.json(Array.isArray(body) ? messages : messages[0]);
  return Response.json(rpcFault(INTERNAL_ERROR, messageOf(error), body), { status: 503 });
}

/** The answers to a request, or to a batch, whose replica went away while it answered on a stream. */
export function lastWordsFor({ body }: PassedRequest): LastWords {
  const answered = new AnsweredIds();
  return {
    sent: (bytes) => void (Array.isArray(body) && answered.read(bytes)),
    words: (error, headers) => {
      if (!headers.get('content-type')?.startsWith('text/event-stream')) return undefined;
      const messages = [body]
        .flat()
        .flatMap((one) => (isObject(one) && !answered.has(one.id) ? (goneMessage(one, error) ?? []) : []));
      if (messages.length === 0) return undefined;
      // The stream may have broken inside an event.
      return Buffer.from(`\n\n${messages.map((one) => `event: message\ndata: ${JSON.stringify(one)}\n\n`).join('')}`);
    },
  };
}

/** Reads an event stream for the ids of the requests that it answers. */
class AnsweredIds {
  readonly #ids = new Set<unknown>();
  readonly #decoder = new TextDecoder();
  /** The pieces of a line that has not ended. */
  #line: string[] = [];

  has(id: unknown): boolean {
    return this.#ids.has(id);
  }

  read(bytes: Uint8Array): void {
    const [first = '', ...lines] = this.#decoder.decode(bytes, { stream: true }).split('\n');
    this.#line.push(first);
    for (const line of lines) {
      this.#note(this.#line.join(''));
      this.#line = [line];
    }
  }

  #note(line: string): void {
    if (!line.startsWith('data: {')) return;
    try {
      const { id, method } = JSON.parse(line.slice('data: '.length)) as { id?: unknown; method?: unknown };
      if (method === undefined) this.#ids.add(id);
    } catch {
      // Such an event answers nothing.
    }
  }
}

/** The message that answers a tool call or another request; undefined for anything else. */
function goneMessage({ id, method, params }: Readonly<Record<string, unknown>>, error: unknown): object | undefined {
  if (id === undefined || typeof method !== 'string') return undefined;
  const info: ErrorInfo =
    error instanceof DiscoveryError
      ? error.toInfo()
      : { code: 'SERVER_CONNECTION_ERROR', message: messageOf(error), retryable: true, outcome: 'unknown' };
  if (method !== 'tools/call') return rpcFault(INTERNAL_ERROR, info.message, { id });
  const isModern = isObject(params) && isObject(params._meta) && META.protocolVersion in params._meta;
  return { jsonrpc: '2.0', id, result: { ...(isModern && { resultType: 'complete' }), ...failure(info) } };
}
