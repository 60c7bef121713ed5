/**
 * Tracks the questions of a server of the old protocol. They do not say which call they belong to, so they may belong
 * to any call in flight. While a question is open, none of these calls times out; when all are over, the question is
 * withdrawn.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import { InFlight } from '../async/in-flight.ts';
import { DiscoveryError } from '../core/errors.ts';
import type { Caller, IdleClock } from '../core/types.ts';
import type { IncomingRequest } from './peer.ts';
import { wasAnswered } from './was-answered.ts';

/** A request of ours that is in flight. */
interface Exchange {
  readonly idleClock: IdleClock | undefined;
}

interface Question {
  /** The requests it may belong to: those in flight when it arrived. */
  readonly exchanges: Set<Exchange>;
  readonly withdrawal: AbortController;
  /** Resolves when the question was answered or withdrawn. */
  readonly over: Promise<void>;
}

/** The requests in flight on one server, and its open questions. */
export class OpenQuestions {
  readonly #exchanges = new InFlight<Exchange>();
  readonly #questions = new Set<Question>();

  /** Settles as the request does. Until then, questions may belong to the request. */
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

  /** Asks the caller. Rejects when the question is withdrawn, by the server or because its calls are over. */
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

  /** Whether the server waits for an answer. */
  get isOpen(): boolean {
    return this.#questions.size > 0;
  }

  /** Resolves when the server waits for no answer. */
  async answered(): Promise<void> {
    while (this.#questions.size > 0) await Promise.all([...this.#questions].map(({ over }) => over));
  }

  /** Withdraws all questions: no caller is left to ask. */
  withdraw(): void {
    for (const { withdrawal } of this.#questions) withdrawal.abort(callIsOver());
  }

  /**
   * Removes an answered request. It did not wait for an answer itself, so a question that remains belongs to no call,
   * such as one about roots.
   */
  #leave(exchange: Exchange, answered: boolean): void {
    for (const { exchanges, withdrawal } of this.#questions) {
      if (!exchanges.delete(exchange)) continue;
      exchange.idleClock?.resume();
      if (exchanges.size === 0 && !answered) withdrawal.abort(callIsOver());
    }
  }
}

const callIsOver = (): DiscoveryError => new DiscoveryError('CANCELLED', 'The call this was asked for is over.');
