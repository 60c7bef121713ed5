/**
 * An embedder in, one out that can be relied on: its answers are checked, it may not hang, and after a failure it is left
 * alone for a while, longer each time. What goes wrong is said once, until it works again.
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

export interface GuardOptions {
  readonly embedder: Embedder;
  /** How long vectors must be. Absent: as long as the first one. */
  readonly dimensions?: number | undefined;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random?: (() => number) | undefined;
  /** An embedder that was handed in may not keep time itself. */
  readonly requestMs?: number | undefined;
  /** The embedder gives vectors of another length now: those from before are of no use. */
  readonly onNewLength: () => void;
}

type Vectors = readonly (Float32Array | undefined)[];

export class GuardedEmbedder {
  readonly #options: GuardOptions;
  readonly #backoff: Backoff;
  readonly #ending = new AbortController();
  #length: number | undefined;
  /** Another length that was seen once. Seen twice, it is the new one. */
  #suspect: number | undefined;
  #isDown = false;

  constructor(options: GuardOptions) {
    this.#options = options;
    const { now, random = Math.random, dimensions } = options;
    this.#backoff = new Backoff({ now, random });
    this.#length = dimensions;
  }

  /** Milliseconds for which it is left alone. */
  get waitMs(): number {
    return this.#backoff.waitMs;
  }

  /** Why it is not used. */
  get problem(): string | undefined {
    return this.#backoff.error?.message;
  }

  /** Numbers in a vector, once that is known. */
  get length(): number | undefined {
    return this.#length;
  }

  /** Vectors that were kept from before have this length. */
  expect(length: number): void {
    this.#length ??= length;
  }

  /** The vector of a request. */
  async embedQuery(text: string): Promise<Float32Array> {
    const [vector] = await this.#counted(() => this.#ask([text], 'query'));
    return vector as Float32Array;
  }

  /** The vectors of tools; undefined where there is none to be had. */
  embedTools(texts: readonly string[]): Promise<Vectors> {
    return this.#counted(async () => {
      try {
        return await this.#ask(texts, 'tool');
      } catch (error) {
        if (!(error instanceof InputRefusedError)) throw error;
        // A text that nobody can object to tells whether it is the texts at all.
        await this.#ask(['test'], 'tool');
        return this.#split(texts, { left: LIMITS.embeddings.splits });
      }
    });
  }

  /** Ends what is under way. */
  close(): void {
    this.#ending.abort(new DiscoveryError('SHUTTING_DOWN', 'The engine is closing.'));
  }

  /** Asks for the halves of a batch that was refused, and so on, until what is refused stands alone. */
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
      new DiscoveryError('SERVER_CONNECTION_ERROR', `The embedder gave no answer within ${requestMs} ms.`);
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
      `The embedder gave vectors of ${length} numbers instead of ${before}.${isNew ? ' All tools are embedded anew.' : ''}`,
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
      this.#options.logger.warn({ reason }, `search goes on without the embedder: ${reason}`);
    }
    this.#isDown = true;
  }
}
