/**
 * Answers the questions of a server of the old protocol: knows which caller can be asked, and delays the first call
 * until the server's questions at its start are answered.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import type { CallSignal } from '../async/cancellation.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller, IdleClock } from '../core/types.ts';
import { JsonRpcError, METHOD_NOT_FOUND } from './json-rpc.ts';
import { OpenQuestions } from './open-questions.ts';
import type { IncomingRequest, Peer } from './peer.ts';
import { ROOTS } from './question-habits.ts';
import { rootsKey } from './same-roots.ts';

export class Respondent {
  /** Whether a caller was ever asked. The server may have kept the answer. */
  wasAsked = false;
  /** What callers have answered, if that was only the same roots each time. */
  toldRoots: string | undefined;
  #toldMore = false;
  readonly questions = new OpenQuestions();
  readonly #peer: Peer;
  #asker: Caller['ask'];
  /** Whether questions are expected, and no caller was there to answer them so far. */
  #awaitsAsker: boolean;
  #askerCame = () => {};
  readonly #firstAsker: Promise<void>;
  #beginning: Promise<void> | undefined;
  #hasBegun = false;

  /** With `mayAsk`, the server was told that it may ask. */
  constructor(peer: Peer, mayAsk: boolean) {
    this.#peer = peer;
    this.#awaitsAsker = mayAsk;
    this.#firstAsker = new Promise((resolve) => {
      this.#askerCame = resolve;
    });
  }

  get asker(): Caller['ask'] {
    return this.#asker;
  }

  set asker(ask: Caller['ask']) {
    this.#asker = ask;
    this.#awaitsAsker = false;
    this.#askerCame();
  }

  /** Whether a call has to wait for `begin` first. */
  get isBeginning(): boolean {
    return !this.#hasBegun && this.#asker !== undefined;
  }

  /** Answers one question through the caller's agent; rejects if no caller can be asked. */
  async answer(request: IncomingRequest): Promise<Record<string, unknown>> {
    if (this.#awaitsAsker) await abortable(this.#firstAsker, request.signal);
    if (!this.#asker)
      throw new JsonRpcError(METHOD_NOT_FOUND, `${request.method}: no client that could answer is connected`);
    this.wasAsked = true;
    const isRoots = request.method === ROOTS;
    if (!isRoots) this.#told(undefined);
    const answer = await this.questions.put(this.#asker, request);
    if (isRoots) this.#told(rootsKey(answer));
    return answer;
  }

  #told(roots: string | undefined): void {
    if (roots === undefined || (this.toldRoots !== undefined && this.toldRoots !== roots)) this.#toldMore = true;
    this.toldRoots = this.#toldMore ? undefined : roots;
  }

  /** Withdraws the server's questions: no caller is left to answer them. */
  withdraw(): void {
    if (this.questions.isOpen) this.questions.withdraw();
  }

  /** Resolves when the server's questions at its start are answered: without the roots it would refuse a call. */
  async begin(signal: CallSignal, idleClock: IdleClock | undefined): Promise<void> {
    this.#beginning ??= this.#begin();
    await this.questions.during(abortable(this.#beginning, signal), idleClock);
  }

  /** A server answers in order, so questions right after the greeting come before its answer to a ping. */
  async #begin(): Promise<void> {
    const overdue = () => new Error('no answer');
    const ping = (signal: AbortSignal) => this.#peer.request('ping', {}, { signal });
    await withTimeLimit(LIMITS.time.firstQuestions, undefined, overdue, ping).catch(() => {});
    if (this.wasAsked) {
      await this.questions.answered();
      await new Promise((resolve) => setTimeout(resolve, LIMITS.time.digest));
    }
    this.#hasBegun = true;
  }
}
