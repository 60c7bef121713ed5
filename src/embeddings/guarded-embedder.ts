/**
 * Wraps an embedder to make it reliable: checks its answers, enforces a timeout, and backs off after failures. A
 * failure is reported once, until the embedder works again.
 * @module
 */
import { abortable } from '../async/abortable.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { Backoff } from '../connections/backoff.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Embedder, EmbedOptions, Logger } from '../core/types.ts';
import { checkVectors } from './check-vectors.ts';
import { InputRefusedError } from './post-json.ts';

interface GuardOptions {
  readonly embedder: Embedder;
  /** The required length of vectors. Absent: that of the first one. */
  readonly dimensions?: number | undefined;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random?: (() => number) | undefined;
  /** Timeout of a request; a custom embedder may have none of its own. */
  readonly requestMs?: number | undefined;
  /** Called when the embedder's vectors have a new length, so the old ones are unusable. */
  readonly onNewLength: () => void;
}

type Vectors = readonly (Float32Array | undefined)[];

export class GuardedEmbedder {
  readonly #options: GuardOptions;
  readonly #backoff: Backoff;
  readonly #ending = new AbortController();
  #length: number | undefined;
  /** A different length that was seen once. Seen twice, it becomes the new one. */
  #suspect: number | undefined;
  #isDown = false;

  constructor(options: GuardOptions) {
    this.#options = options;
    const { now, random = Math.random, dimensions } = options;
    this.#backoff = new Backoff({ now, random });
    this.#length = dimensions;
  }

  /** Milliseconds left of the back-off. */
  get waitMs(): number {
    return this.#backoff.waitMs;
  }

  /** Why the embedder is not used. */
  get problem(): string | undefined {
    return this.#backoff.error?.message;
  }

  /** Length of a vector, once known. */
  get length(): number | undefined {
    return this.#length;
  }

  /** Sets the length of vectors that were read from disk. */
  expect(length: number): void {
    this.#length ??= length;
  }

  /** Returns the vector of a query. */
  async embedQuery(text: string): Promise<Float32Array> {
    const [vector] = await this.#counted(() => this.#ask([text], 'query'));
    return vector as Float32Array;
  }

  /** Returns the vectors of tools; undefined if there is none. */
  embedTools(texts: readonly string[]): Promise<Vectors> {
    return this.#counted(async () => {
      try {
        return await this.#ask(texts, 'tool');
      } catch (error) {
        if (!(error instanceof InputRefusedError)) throw error;
        // A harmless text tells whether the texts are the problem at all.
        await this.#ask(['test'], 'tool');
        return this.#split(texts, { left: LIMITS.embeddings.splits });
      }
    });
  }

  /** Ends pending requests. */
  close(): void {
    this.#ending.abort(new DiscoveryError('SHUTTING_DOWN', 'The engine is closing.'));
  }

  /** Splits a refused batch in halves until the refused texts are alone. */
  async #split(texts: readonly string[], budget: { left: number }): Promise<Vectors> {
    if (texts.length < 2 || budget.left < 2) return texts.map(() => undefined);
    budget.left -= 2;
    const middle = Math.ceil(texts.length / 2);
    const found: (Float32Array | undefined)[] = [];
    for (const half of [texts.slice(0, middle), texts.slice(middle)]) {
      try {
        found.push(...(await this.#ask(half, 'tool')));
      } catch (error) {
        if (!(error instanceof InputRefusedError)) throw error;
        found.push(...(await this.#split(half, budget)));
      }
    }
    return found;
  }

  async #ask(texts: readonly string[], purpose: EmbedOptions['purpose']): Promise<Vectors> {
    const { embedder, dimensions, requestMs = LIMITS.time.embedder } = this.#options;
    const overdue = () =>
      new DiscoveryError('SERVER_CONNECTION_ERROR', `The embedder did not answer within ${requestMs} ms.`);
    const answer = await withTimeLimit(requestMs, this.#ending.signal, overdue, (signal) =>
      abortable(embedder.embed(texts, { purpose, signal }), signal),
    );
    const checked = checkVectors(answer, texts.length, dimensions);
    this.#settleLength(checked.dimensions);
    return checked.vectors;
  }

  #settleLength(length: number): void {
    const before = this.#length;
    if (before === undefined || before === length) {
      this.#length = length;
      this.#suspect = undefined;
      return;
    }
    const isNew = this.#suspect === length;
    this.#suspect = isNew ? undefined : length;
    if (isNew) {
      this.#length = length;
      this.#options.onNewLength();
    }
    throw new DiscoveryError(
      'SERVER_CONNECTION_ERROR',
      `The embedder returned vectors of ${length} numbers instead of ${before}.${isNew ? ' All tools are embedded again.' : ''}`,
    );
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#backoff.opened();
      if (this.#isDown) this.#options.logger.info({}, 'the embedder works again');
      this.#isDown = false;
      return result;
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#failed(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  }

  #failed(error: Error): void {
    const { retryable = true, retryAfterMs = 0 } = error instanceof DiscoveryError ? error.toInfo() : {};
    this.#backoff.failed(error, { final: !retryable, atLeastMs: retryAfterMs });
    if (!this.#isDown) {
      const reason = error.message;
      this.#options.logger.warn({ reason }, `search continues without the embedder: ${reason}`);
    }
    this.#isDown = true;
  }
}
