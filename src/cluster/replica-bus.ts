/**
 * Carries messages between replicas over Redis. Each message is sealed for its channel and numbered by its sender;
 * forged, repeated, foreign and old ones are dropped and counted.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { elapsedNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import type { KeyRing } from './key-ring.ts';
import type { RedisLink } from './redis-link.ts';

/** A message: what it is about, and more, as JSON; `bytes` travel beside it unencoded. */
export interface BusMessage {
  readonly kind: string;
  readonly bytes?: Uint8Array | undefined;
  readonly [key: string]: unknown;
}

/** A message that arrived, and its sender. */
export interface Received {
  readonly from: string;
  /** When it was sent, by the clock of Redis. */
  readonly at: number;
  readonly message: BusMessage;
}

type Listener = (received: Received) => void;

/** Everything but what a replica's id can be made of is no id. */
const REPLICA = /^[A-Za-z0-9_-]{16}$/;
/** Bytes of a replica's id. */
const ID_BYTES = 12;

export const isReplicaId = (text: string): boolean => REPLICA.test(text);

export class ReplicaBus {
  /** New for every process, so that nobody takes a message for its predecessor's. */
  readonly id = randomBytes(ID_BYTES).toString('base64url');
  readonly #link: RedisLink;
  readonly #keys: KeyRing;
  readonly #prefix: string;
  readonly #listeners = new Map<string, Listener>();
  /** The number of the last message of each sender, the sender heard last at the end. */
  readonly #heard = new Map<string, number>();
  #openedAt = 0;
  #sent = 0;
  #dropped = 0;

  constructor(link: RedisLink, keys: KeyRing, prefix: string) {
    this.#link = link;
    this.#keys = keys;
    this.#prefix = prefix;
  }

  async open(): Promise<void> {
    this.#openedAt = elapsedNow();
    for (const channel of [this.#channel(this.id), this.#channel('all')])
      await this.#link.subscribe(channel, (sealed) => this.#receive(channel, sealed));
  }

  /** How many messages were dropped because they were forged, repeated, old or damaged. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Calls back for messages of a kind. */
  on(kind: string, listener: Listener): void {
    this.#listeners.set(kind, listener);
  }

  /**
   * Sends to one replica. Resolves with false if it is certainly gone: nobody listens to its channel. Rejects with
   * `RedisAway` if Redis does not answer.
   */
  async send(to: string, message: BusMessage): Promise<boolean> {
    const receivers = await this.#publish(this.#channel(to), message);
    return receivers > 0 || !this.#link.countsReceivers;
  }

  /** Tells whether a replica still listens. A frozen one does. */
  async isThere(replica: string): Promise<boolean> {
    if (!this.#link.countsReceivers) return true;
    const [, count] = await this.#link.run<[Buffer, number]>('PUBSUB', 'NUMSUB', this.#channel(replica));
    return count > 0;
  }

  /** Resolves once everything that was sent here before has been heard, as far as Redis answers. */
  caughtUp(): Promise<void> {
    return this.#link.caughtUp();
  }

  /** Hears all that others have sent to this replica, and then nothing more: `send` tells them that it is gone. */
  async leave(): Promise<void> {
    // Others stop because they were told. What is on its way between the nodes of a Redis Cluster is heard meanwhile.
    if (!this.#link.countsReceivers) await after(LIMITS.cluster.working);
    await this.#link.unsubscribe(this.#channel(this.id));
  }

  /** Sends to all other replicas. Resolves with their number. */
  async broadcast(message: BusMessage): Promise<number> {
    return (await this.#publish(this.#channel('all'), message)) - 1;
  }

  #publish(channel: string, { bytes = Buffer.alloc(0), ...head }: BusMessage): Promise<number> {
    const text = Buffer.from(JSON.stringify([this.id, ++this.#sent, this.#link.now(), head]));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    const sealed = this.#keys.seal(Buffer.concat([length, text, bytes]), channel);
    return this.#link.run<number>('PUBLISH', channel, sealed);
  }

  #receive(channel: string, sealed: Buffer): void {
    const received = this.#opened(channel, sealed);
    if (received === 'own') return;
    if (!received) this.#dropped += 1;
    else this.#listeners.get(received.message.kind)?.(received);
  }

  #opened(channel: string, sealed: Buffer): Received | 'own' | undefined {
    if (sealed.length > 2 * LIMITS.cluster.message) return undefined;
    const plain = this.#keys.open(sealed, channel);
    if (!plain || plain.length < 4) return undefined;
    const end = 4 + plain.readUInt32BE(0);
    const [from, number, at, head] = JSON.parse(plain.toString('utf8', 4, end)) as [string, number, number, unknown];
    if (from === this.id) return 'own';
    // Whoever has the key could still send again what it has seen.
    if (!isObject(head) || number <= (this.#heard.get(from) ?? 0)) return undefined;
    // A message from before the start of this replica may be a repetition: it knows no numbers from then.
    if (at < this.#link.now() - (elapsedNow() - this.#openedAt) - LIMITS.cluster.late) return undefined;
    this.#heard.delete(from);
    this.#heard.set(from, number);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > LIMITS.cluster.replicas && oldest !== undefined) this.#heard.delete(oldest);
    return { from, at, message: { ...head, kind: String(head.kind), bytes: plain.subarray(end) } };
  }

  #channel(to: string): string {
    return `${this.#prefix}:to:${to}`;
  }
}
