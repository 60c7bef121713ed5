/**
 * Questions of a server of the old protocol, which come over the connection without saying which call they belong to:
 * to one of those under way. While one is open, none of them is silent; when all are gone, nobody wants the answer.
 * @module
 */
import { DiscoveryError } from '../errors.ts';
import type { Caller, IdleClock } from '../types.ts';
import { abortable } from './abortable.ts';
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
    const question: Question = { exchanges: new Set(this.#exchanges), withdrawal: new AbortController() };
    const withdraw = () => question.withdrawal.abort(signal.reason);
    this.#questions.add(question);
    signal.addEventListener('abort', withdraw);
    for (const { idleClock } of question.exchanges) idleClock?.pause();
    try {
      return await abortable(ask({ method, params }, question.withdrawal.signal), question.withdrawal.signal);
    } finally {
      this.#questions.delete(question);
      signal.removeEventListener('abort', withdraw);
      for (const { idleClock } of question.exchanges) idleClock?.resume();
    }
  }

  /** One that was answered did not wait for an answer itself: a question that is left over is nobody's, such as one about roots. */
  #leave(exchange: Exchange, answered: boolean): void {
    for (const { exchanges, withdrawal } of this.#questions) {
      if (!exchanges.delete(exchange)) continue;
      exchange.idleClock?.resume();
      if (exchanges.size === 0 && !answered)
        withdrawal.abort(new DiscoveryError('CANCELLED', 'The call this was asked for is over.'));
    }
  }
}
