/**
 * Connects to Redis or Valkey: one connection for commands, one for subscriptions. No command waits longer than a short
 * limit, and while Redis does not answer, commands fail at once.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';
import { afterLive } from '../async/live-timer.ts';
import { DiscoveryError, type Outcome } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';
import { messageOf } from '../text/thrown-message.ts';
import { type RedisClients, redisClients } from './redis-clients.ts';

export interface RedisLinkOptions {
  /** See `redisClients`. */
  readonly url: string;
  readonly logger: Logger;
}

/**
 * A command failed because Redis does not answer, or refuses it: it is out of memory, loads its data, or was replaced by
 * another master. The outcome is `not_sent` if the command had no effect for certain.
 */
export class RedisAway extends DiscoveryError {
  constructor(cause: unknown, outcome: Outcome, what = 'does not answer') {
    super('STORAGE_ERROR', `Redis ${what}: ${messageOf(cause)}`, { cause, outcome, retryable: true });
  }
}

type Listener = (message: Buffer) => void;

export class RedisLink {
  /** In a Redis cluster, `PUBLISH` counts only the subscribers of one node. */
  readonly countsReceivers: boolean;
  readonly #clients: RedisClients;
  readonly #logger: Logger;
  readonly #listeners = new Map<string, Listener>();
  readonly #onUp = new Set<() => void>();
  #isUp = false;
  #wasDown = false;
  /** Until then, commands are not tried: Redis accepts them and does not answer. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** Milliseconds that the clock of Redis is ahead of ours. */
  #ahead = 0;
  #isClosed = false;

  private constructor({ url, logger }: RedisLinkOptions) {
    this.#logger = logger;
    this.#clients = redisClients(url);
    const { all, subscriber, isCluster } = this.#clients;
    this.countsReceivers = !isCluster;
    subscriber.on('messageBuffer', (channel: Buffer, message: Buffer) =>
      this.#listeners.get(channel.toString())?.(message),
    );
    for (const client of all) {
      // Failures reach the callers; the log hears of each outage once.
      client.on('error', (error: unknown) => this.#down(error));
      client.on('close', () => this.#down(new Error('the connection was closed')));
      client.on('ready', () => void this.#up());
    }
  }

  /** Starts to connect. Resolves once connected, or after a short time without: the link connects when Redis is there. */
  static async open(options: RedisLinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options);
    const { logger } = options;
    const isUp = new Promise<void>((resolve) => link.onUp(resolve));
    await new Promise<void>((resolve) => {
      const stop = afterLive(LIMITS.cluster.connect, resolve);
      void isUp.then(stop).then(resolve);
    });
    if (!link.isUp) {
      link.#wasDown = true;
      logger.warn({}, 'Redis cannot be reached. Until it can, this replica works alone.');
    }
    return link;
  }

  /** Whether commands are likely to be answered. */
  get isUp(): boolean {
    return this.#isUp && elapsedNow() >= this.#heldUntil;
  }

  /** Milliseconds since 1970 by the clock of Redis, which all replicas share. */
  now(): number {
    return performance.timeOrigin + performance.now() + this.#ahead;
  }

  /** Runs a command. Rejects with `RedisAway` when Redis does not answer in time. */
  async run<T>(command: string, ...args: (string | number | Uint8Array)[]): Promise<T> {
    if (!this.#isUp) throw new RedisAway('there is no connection', 'not_sent');
    if (elapsedNow() < this.#heldUntil) throw new RedisAway('it did not answer a moment ago', 'not_sent');
    try {
      return (await this.#inTime(this.#clientFor(command).callBuffer(command, ...args.map(argument)))) as T;
    } catch (error) {
      if (!isReply(error)) throw new RedisAway(error, 'unknown');
      if (messageOf(error).startsWith('NOSCRIPT')) throw error;
      throw new RedisAway(error, 'not_sent', 'refuses a command');
    }
  }

  /** Calls back with each message of a channel. */
  async subscribe(channel: string, listener: Listener): Promise<void> {
    this.#listeners.set(channel, listener);
    // The client subscribes again after each reconnect, also to what it could not subscribe to now.
    await this.#clients.subscriber.subscribe(channel).catch(() => {});
  }

  /** Resolves once all messages that Redis sent before were heard, or Redis does not answer. */
  async caughtUp(): Promise<void> {
    if (this.#isUp) await this.#clients.subscriber.ping().catch(() => {});
  }

  /** Ends a subscription, once all messages that Redis sent before were heard. */
  async unsubscribe(channel: string): Promise<void> {
    if (this.#isUp) await this.#inTime(this.#clients.subscriber.unsubscribe(channel)).catch(() => {});
    this.#listeners.delete(channel);
  }

  /** Calls back now and after each outage: messages may have been missed. Returns a function that unsubscribes. */
  onUp(listener: () => void): () => void {
    this.#onUp.add(listener);
    if (this.isUp) listener();
    return () => this.#onUp.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#isUp = false;
    this.#clients.close();
  }

  async #up(): Promise<void> {
    const { all, subscriber } = this.#clients;
    if (this.#isClosed || !all.every(({ status }) => status === 'ready')) return;
    const channels = [...this.#listeners.keys()];
    try {
      if (channels.length > 0) await subscriber.subscribe(...channels);
      await this.#readClock();
    } catch (error) {
      this.#down(error);
      // The connections may stay as they are, so no event would tell that Redis answers again.
      setTimeout(() => void this.#up(), LIMITS.cluster.held).unref();
      return;
    }
    if (this.#isUp || this.#isClosed) return;
    this.#isUp = true;
    if (this.#wasDown) this.#logger.info({}, 'Redis can be reached again.');
    for (const listener of this.#onUp) listener();
  }

  #down(error: unknown): void {
    if (!this.#isUp || this.#isClosed) return;
    this.#isUp = false;
    this.#wasDown = true;
    this.#logger.warn({}, `Redis cannot be reached: ${messageOf(error)}. Until it can, this replica works alone.`);
  }

  /** Lets commands fail at once for a while, instead of each waiting for its limit. */
  #frozen(): void {
    if (elapsedNow() < this.#heldUntil) return;
    this.#heldUntil = elapsedNow() + LIMITS.cluster.held;
    this.#logger.warn({}, 'Redis does not answer.');
    setTimeout(() => {
      if (this.#isClosed || !this.#isUp) return;
      this.run('PING').then(
        () => {
          for (const listener of this.#onUp) listener();
        },
        () => {},
      );
    }, LIMITS.cluster.held).unref();
  }

  /** Waits for an answer. The client's own timer would also fire when an answer is there and was not read yet. */
  #inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = afterLive(LIMITS.cluster.command, () => {
        this.#frozen();
        reject(new Error('it did not answer in time'));
      });
      answer.finally(stop).then(resolve, reject);
    });
  }

  #clientFor(command: string): RedisClients['commands'] {
    const { commands, publisher } = this.#clients;
    return command === 'PUBLISH' ? publisher : commands;
  }

  async #readClock(): Promise<void> {
    const before = performance.timeOrigin + performance.now();
    const [seconds, micros] = (await this.#inTime(this.#clients.commands.callBuffer('TIME'))) as [Buffer, Buffer];
    const after = performance.timeOrigin + performance.now();
    this.#ahead = Number(seconds) * 1_000 + Number(micros) / 1_000 - (before + after) / 2;
  }
}

const argument = (value: string | number | Uint8Array): string | number | Buffer =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;

/** Redis answered, with an error of its own. */
const isReply = (error: unknown): boolean => (error as Error | undefined)?.name === 'ReplyError';
