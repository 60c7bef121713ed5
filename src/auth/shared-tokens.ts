/**
 * Keeps the static tokens of all replicas the same: merges the file of this replica with what the others share. A
 * replica that has not heard from the others for some minutes lets no static token in: it may have been revoked.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';
import { messageOf } from '../text/thrown-message.ts';
import type { AuthRefusal, Identity, TokenChecker } from './identity.ts';
import { recordText, type StaticTokens, type TokenRecord, toRecord } from './static-tokens.ts';

/** Where replicas share their tokens. Every method rejects when the place does not answer. */
export interface TokenPlace {
  read(): Promise<Uint8Array | undefined>;
  /** Replaces the value, while nobody else does. Undefined leaves it as it is. */
  change(edit: (bytes: Uint8Array | undefined) => Promise<Uint8Array | undefined>): Promise<void>;
  /** Calls back when another replica has changed the value, and when the place answers again. */
  onChange(listener: () => void): () => void;
}

export class SharedTokens implements TokenChecker {
  readonly #tokens: StaticTokens;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #now: () => number;
  #place: TokenPlace | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #syncing: Promise<void> | undefined;
  #isMissed = false;
  #problem = '';
  #stop = () => {};

  /** `now` is a clock that only measures how long something lasts. */
  constructor(tokens: StaticTokens, logger: Pick<Logger, 'warn'>, now: () => number = elapsedNow) {
    this.#tokens = tokens;
    this.#logger = logger;
    this.#now = now;
  }

  /** Shares the tokens from now on. Resolves when that was tried once. */
  async follow(place: TokenPlace): Promise<void> {
    if (this.#place) return;
    this.#place = place;
    const look = () => void this.#look();
    const timer = setInterval(look, LIMITS.cluster.tokensRead).unref();
    const stop = place.onChange(look);
    this.#stop = () => {
      clearInterval(timer);
      stop();
    };
    await this.#look();
  }

  /** Whether replicas share their tokens. */
  get isShared(): boolean {
    return this.#place !== undefined;
  }

  get exist(): boolean {
    return this.#tokens.exist;
  }

  owns(token: string): boolean {
    return this.#tokens.owns(token);
  }

  async check(token: string): Promise<Identity | AuthRefusal> {
    if (!this.#isCurrent)
      return { refused: 'unavailable', reason: 'Redis cannot be asked whether the token was revoked' };
    return this.#tokens.check(token);
  }

  has(principal: string): boolean {
    return this.#isCurrent && this.#tokens.has(principal);
  }

  close(): void {
    this.#stop();
  }

  get #isCurrent(): boolean {
    return !this.#place || this.#now() - this.#heardAt <= LIMITS.cluster.tokens;
  }

  async #look(): Promise<void> {
    this.#isMissed = true;
    this.#syncing ??= this.#syncAll().finally(() => {
      this.#syncing = undefined;
    });
    await this.#syncing;
  }

  async #syncAll(): Promise<void> {
    while (this.#isMissed && this.#place) {
      this.#isMissed = false;
      const from = this.#now();
      try {
        await syncTokens(this.#tokens, this.#place);
        this.#heardAt = from;
        this.#problem = '';
      } catch (error) {
        const problem = messageOf(error);
        if (problem !== this.#problem) this.#logger.warn({}, `Tokens are not shared with other replicas: ${problem}`);
        this.#problem = problem;
      }
    }
  }
}

/** Makes the tokens of a state folder and those that replicas share the same. */
export async function syncTokens(tokens: StaticTokens, place: TokenPlace): Promise<void> {
  const theirs = recordOf(await place.read());
  await tokens.merge(theirs);
  if (!tokens.knowsMoreThan(theirs)) return;
  await place.change(async (bytes) => Buffer.from(recordText(await tokens.merge(recordOf(bytes)))));
}

/** What cannot be read was written by a later version. It is left alone. */
function recordOf(bytes: Uint8Array | undefined): TokenRecord {
  const record = toRecord(bytes && Buffer.from(bytes).toString());
  if (!record) throw new Error('what they share is of another version');
  return record;
}
