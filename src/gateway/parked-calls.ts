/**
 * Parks calls that wait for an answer from an agent of protocol 2026-07-28. Such an agent can only be asked by
 * answering its request: it gets `input_required`, and its next request brings the answers and resumes the call.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { type CallSignal, Cancellation } from '../async/cancellation.ts';
import { INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import { DiscoveryError } from '../core/errors.ts';
import { leavesRoom, ofMost, tally } from '../core/fair-share.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import type { ServerRequest, ToolCall } from '../core/types.ts';

export type RawResult = Readonly<Record<string, unknown>>;
export type Ask = (request: ServerRequest, signal?: AbortSignal) => Promise<Record<string, unknown>>;

/** Receives what a call reports while it runs. */
export type Hearing = Pick<ToolCall, 'onProgress' | 'onNotification'>;

interface Question {
  readonly request: ServerRequest;
  readonly resolve: (answer: Record<string, unknown>) => void;
  readonly reject: (reason: unknown) => void;
}

interface Parked {
  /** New for each round, so that an answer can be used only once. */
  id: string;
  /** The caller, tool and arguments of the call. The answers must match them. */
  readonly binding: string;
  /** The key under which the caller's parked calls are counted. */
  readonly caller: string;
  readonly questions: Map<string, Question>;
  result: Promise<RawResult>;
  readonly cancellation: Cancellation;
  /** The open request of the call; empty while it is parked. */
  hearing: Hearing;
  notify: () => void;
  asked: number;
  timer: NodeJS.Timeout | undefined;
}

interface ParkedCallsOptions {
  readonly maxCalls?: number;
  readonly waitMs?: number;
  /** The replica that parks the calls; it is part of their ids. */
  readonly replica?: string | undefined;
}

const PREFIX = 'anygpt.';
const PARKED_AT = /^anygpt\.([\w-]+)\./;
const NEVER = new Promise<RawResult>(() => {});

export class ParkedCalls {
  readonly #parked = new Map<string, Parked>();
  readonly #maxCalls: number;
  readonly #waitMs: number;
  readonly #prefix: string;

  constructor(options: ParkedCallsOptions = {}) {
    const { maxCalls = DEFAULTS.parked.calls, waitMs = DEFAULTS.parked.waitMs, replica } = options;
    this.#maxCalls = maxCalls;
    this.#waitMs = waitMs;
    this.#prefix = replica === undefined ? PREFIX : `${PREFIX}${replica}.`;
  }

  /** The replica that parked a call; undefined if its id names none. */
  static replicaOf(requestState: unknown): string | undefined {
    return typeof requestState === 'string' ? PARKED_AT.exec(requestState)?.[1] : undefined;
  }

  /** Tells whether this gateway made a `requestState`. Any other belongs to the server and is passed on. */
  static owns(requestState: unknown): requestState is string {
    return typeof requestState === 'string' && requestState.startsWith(PREFIX);
  }

  /** Runs a call that may ask. Resolves with its result, or with its questions. */
  run(
    caller: string,
    binding: string,
    signal: CallSignal,
    work: (ask: Ask, signal: CallSignal, hearing: Hearing) => Promise<RawResult>,
    hearing: Hearing = {},
  ): Promise<RawResult> {
    // A signal of its own: the request's signal fires once the questions are sent, and the call must outlive that.
    const cancellation = new Cancellation();
    const call: Parked = {
      id: '',
      binding,
      caller,
      questions: new Map(),
      result: NEVER,
      cancellation,
      hearing,
      notify: () => {},
      asked: 0,
      timer: undefined,
    };
    call.result = work((request, stop) => this.#ask(call, request, stop), cancellation, {
      onProgress: hearing.onProgress && ((progress) => call.hearing.onProgress?.(progress)),
      onNotification: hearing.onNotification && ((method, params) => call.hearing.onNotification?.(method, params)),
    });
    // A parked call has no caller that could get the failure.
    call.result.catch(() => {});
    return this.#next(call, signal);
  }

  /** Passes the agent's answers to the parked call and waits for the result or further questions. */
  async resume(
    requestState: string,
    binding: string,
    responses: Readonly<Record<string, unknown>>,
    signal: CallSignal,
    hearing: Hearing = {},
  ): Promise<RawResult> {
    const call = this.#parked.get(requestState);
    if (call?.binding !== binding) {
      const why =
        'This requestState belongs to no waiting call of yours, or not to this request. Send the request anew.';
      throw new JsonRpcError(INVALID_PARAMS, why);
    }
    clearTimeout(call.timer);
    this.#parked.delete(call.id);
    call.hearing = hearing;
    for (const [key, question] of [...call.questions]) {
      const response = responses[key];
      if (typeof response !== 'object' || response === null) continue;
      call.questions.delete(key);
      question.resolve(response as Record<string, unknown>);
    }
    return this.#next(call, signal);
  }

  /** Cancels all parked calls. */
  close(): void {
    for (const call of this.#parked.values()) this.#giveUp(call, 'the gateway is shutting down');
  }

  get size(): number {
    return this.#parked.size;
  }

  async #next(call: Parked, signal: CallSignal): Promise<RawResult> {
    const onAbort = () => call.cancellation.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    try {
      for (;;) {
        const asked = new Promise<'asked'>((resolve) => {
          call.notify = () => setTimeout(() => resolve('asked'), LIMITS.pace.gatheredQuestions);
          if (call.questions.size > 0) call.notify();
        });
        const first = await Promise.race([call.result, asked]);
        if (first !== 'asked') return first;
        // A question may be withdrawn while others are gathered.
        if (call.questions.size > 0) return this.#park(call);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #park(call: Parked): RawResult {
    const parked = [...this.#parked.values()];
    const held = tally(parked.map(({ caller }) => caller));
    const own = held.get(call.caller) ?? 0;
    const oldest = ofMost(parked, ({ caller }) => caller, held);
    // The caller with the most parked calls gives up its oldest one for a caller that has none.
    if (own === 0 && oldest && (held.get(oldest.caller) ?? 0) > 1 && this.#parked.size >= this.#maxCalls)
      this.#giveUp(oldest, 'other callers wait for answers, too');
    if (!leavesRoom(own, this.#maxCalls - this.#parked.size)) {
      this.#giveUp(call, 'too many calls wait for an answer');
      throw new DiscoveryError('SERVER_BUSY', 'Too many calls are waiting for answers from agents. Try again later.');
    }
    call.id = `${this.#prefix}${randomBytes(18).toString('base64url')}`;
    this.#parked.set(call.id, call);
    call.hearing = {};
    call.timer = setTimeout(() => this.#giveUp(call, 'no answer came in time'), this.#waitMs).unref();
    const inputRequests = Object.fromEntries([...call.questions].map(([key, { request }]) => [key, request]));
    return { resultType: 'input_required', inputRequests, requestState: call.id };
  }

  #ask(call: Parked, request: ServerRequest, signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const key = `q${++call.asked}`;
      call.questions.set(key, { request, resolve, reject });
      signal?.addEventListener(
        'abort',
        () => {
          call.questions.delete(key);
          reject(signal.reason);
        },
        { once: true },
      );
      call.notify();
    });
  }

  #giveUp(call: Parked, why: string): void {
    clearTimeout(call.timer);
    this.#parked.delete(call.id);
    const reason = new DiscoveryError('CANCELLED', `The call was cancelled: ${why}.`);
    for (const question of call.questions.values()) question.reject(reason);
    call.questions.clear();
    call.cancellation.abort(reason);
  }
}
