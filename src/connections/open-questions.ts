/**
 * Questions of a server of the old protocol, which come over the connection without saying which call they belong to:
 * to one of those under way. While one is open, none of them is silent; when all are gone, nobody wants the answer.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { DiscoveryError } from '../core/errors.ts';
import type { Caller, IdleClock } from '../core/types.ts';
import type { IncomingRequest } from './peer.ts';
import { wasAnswered } from './was-answered.ts';

/** A request of ours that the server is working on. */
interface Exchange {
  readonly idleClock: IdleClock | undefined;
}

interface Question {
  /** Whose it can be: those under way when it came. */
  readonly exchanges: Set<Exchange>;
  readonly withdrawal: AbortController;
  /** Resolves when it was answered or withdrawn. */
  readonly over: Promise<void>;
}

/** What one server works on, and what it has asked meanwhile. */
export class OpenQuestions {
  readonly #exchanges = new Set<Exchange>();
  readonly #questions = new Set<Question>();

  /** Settles as the request does. Until then questions can belong to it. */
  async during<T>(answer: Promise<T>, idleClock: IdleClock | undefined): Promise<T> {
    const exchange: Exchange = { idleClock };
    this.#exchanges.add(exchange);
    let answered = true;
    try {
      return await answer;
    } catch (error) {
      answered = wasAnswered(error);
      throw error;
    } finally {
      this.#exchanges.delete(exchange);
      if (this.#questions.size > 0) this.#leave(exchange, answered);
    }
  }

  /** Puts a question to the caller. Rejects when it is withdrawn, by the server or because its call is over. */
  async put(ask: NonNullable<Caller['ask']>, request: IncomingRequest): Promise<Record<string, unknown>> {
    const { method, params, signal } = request;
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const question: Question = { exchanges: new Set(this.#exchanges), withdrawal: new AbortController(), over };
    const withdraw = () => question.withdrawal.abort(signal.reason);
    this.#questions.add(question);
    signal.addEventListener('abort', withdraw);
    for (const { idleClock } of question.exchanges) idleClock?.pause();
    try {
      return await abortable(ask({ method, params }, question.withdrawal.signal), question.withdrawal.signal);
    } finally {
      this.#questions.delete(question);
      end();
      signal.removeEventListener('abort', withdraw);
      for (const { idleClock } of question.exchanges) idleClock?.resume();
    }
  }

  /** True while the server waits for an answer. */
  get isOpen(): boolean {
    return this.#questions.size > 0;
  }

  /** Resolves when the server waits for no answer. */
  async answered(): Promise<void> {
    while (this.#questions.size > 0) await Promise.all([...this.#questions].map(({ over }) => over));
  }

  /** Takes all questions back: nobody is left who could be asked. */
  withdraw(): void {
    for (const { withdrawal } of this.#questions) withdrawal.abort(callIsOver());
  }

  /** One that was answered did not wait for an answer itself: a question that is left over is nobody's, such as one about roots. */
  #leave(exchange: Exchange, answered: boolean): void {
    for (const { exchanges, withdrawal } of this.#questions) {
      if (!exchanges.delete(exchange)) continue;
      exchange.idleClock?.resume();
      if (exchanges.size === 0 && !answered) withdrawal.abort(callIsOver());
    }
  }
}

const callIsOver = (): DiscoveryError => new DiscoveryError('CANCELLED', 'The call this was asked for is over.');
