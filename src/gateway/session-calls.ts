/**
 * Answers calls in a session of the old protocol without the SDK, if their results come soon. A call that takes longer
 * is handed over to the SDK while it runs: its client gets a stream that it can continue if its connection breaks.
 * @module
 */
import type { ServerResponse } from 'node:http';
import { Cancellation } from '../async/cancellation.ts';
import type { JsonRpcId } from '../connections/json-rpc.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { answerTo, sendAnswer } from './http-lane.ts';
import type { RawResult } from './parked-calls.ts';
import type { UpstreamCall, UpstreamHandler } from './upstream.ts';

interface Running {
  readonly cancellation: Cancellation;
  readonly result: Promise<RawResult>;
}

/** The calls of one session. */
export class SessionCalls {
  readonly #handler: UpstreamHandler;
  readonly #running = new Map<JsonRpcId, Running>();
  /** Calls that the SDK was given and has not asked for yet. */
  readonly #late = new Map<JsonRpcId, Running>();

  constructor(handler: UpstreamHandler) {
    this.#handler = handler;
  }

  /** For the SDK's server of the session. A call that already runs is not made again. */
  readonly handler: UpstreamHandler = (call, work) => {
    const { id, signal } = call;
    const running = id === undefined ? undefined : this.#late.get(id);
    if (id === undefined || running === undefined) return this.#handler(call, work);
    this.#late.delete(id);
    signal.addEventListener('abort', () => running.cancellation.abort(signal.reason));
    return running.result;
  };

  /** Tells whether a call with this id runs. */
  has(id: JsonRpcId): boolean {
    return this.#running.has(id);
  }

  /** Makes a call. Resolves with true once it is answered, and with false if the SDK has to answer it. */
  answer(
    id: JsonRpcId,
    call: Omit<UpstreamCall, 'id' | 'signal'>,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    const cancellation = new Cancellation();
    const running = { cancellation, result: this.#handler({ ...call, id, signal: cancellation }) };
    this.#running.set(id, running);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#running.delete(id);
        // Nobody waits any more. The call goes on, as with the SDK.
        if (response.destroyed) return resolve(true);
        this.#late.set(id, running);
        response.once('close', () => setImmediate(() => this.#late.delete(id)));
        resolve(false);
      }, LIMITS.time.quickCall);
      void answerTo(id, running.result).then((answer) => {
        if (this.#running.get(id) !== running) return;
        this.#running.delete(id);
        clearTimeout(timer);
        sendAnswer(response, answer, headers);
        resolve(true);
      });
    });
  }

  /** Cancels the call that a notification names. */
  cancel(body: unknown): void {
    if (!isObject(body) || body.method !== 'notifications/cancelled' || !isObject(body.params)) return;
    this.#running.get(body.params.requestId as JsonRpcId)?.cancellation.abort(new Error('cancelled by the client'));
  }

  /** Cancels all calls. */
  close(): void {
    for (const { cancellation } of this.#running.values()) cancellation.abort(new Error('the session has ended'));
  }
}
