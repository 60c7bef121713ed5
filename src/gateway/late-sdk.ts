/**
 * Stands in for the SDK until it is there: sends for it when it is first needed, and keeps what it has to be told then.
 * @module
 */
import type { Readable } from 'node:stream';
import type { JsonRpcMessage } from '../connections/json-rpc.ts';

export interface LateSdkOptions {
  /** Where messages come from; nothing is read while the SDK is on its way. */
  readonly input: Readable;
  /** Brings the SDK. Without it, it is there from the beginning. */
  readonly wake: (() => void) | undefined;
  /** Hands a message to the SDK that is there. */
  readonly deliver: (message: JsonRpcMessage) => void;
}

/** The id under which the SDK is told of a greeting that was answered without it. */
const RETOLD = 'anygpt-greeting';

export class LateSdk {
  readonly #options: LateSdkOptions;
  #state: 'absent' | 'coming' | 'here';
  #missed: JsonRpcMessage[] = [];
  /** A client of the old protocol was greeted without it. */
  #greeted = false;
  /** It was told of that and has not answered yet. */
  #answers = false;

  constructor(options: LateSdkOptions) {
    this.#options = options;
    this.#state = options.wake ? 'absent' : 'here';
  }

  /** Whether it is neither here nor sent for. */
  get isAbsent(): boolean {
    return this.#state === 'absent';
  }

  /** Will be told, when it comes, that a client was greeted in its place. */
  greeted(params: JsonRpcMessage['params']): void {
    this.#greeted = true;
    this.#missed.push({ jsonrpc: '2.0', id: RETOLD, method: 'initialize', ...(params && { params }) });
  }

  /** Whether this is its answer to the greeting, which the client has had. */
  isRetold({ id }: JsonRpcMessage): boolean {
    if (!this.#answers || id !== RETOLD) return false;
    this.#answers = false;
    return true;
  }

  forward(message: JsonRpcMessage): void {
    if (this.#state === 'here') return this.#options.deliver(message);
    const isNeeded = !this.#greeted || (message.method !== undefined && message.id !== undefined);
    // Of what a greeted client says unasked, the SDK has to know that it is ready, and no more.
    const isReady = message.method === 'notifications/initialized' && this.#missed.length === 1;
    if (this.isAbsent && !isNeeded && !isReady) return;
    this.#missed.push(message);
    if (!this.isAbsent || !isNeeded) return;
    this.#state = 'coming';
    this.#options.input.pause();
    this.#options.wake?.();
  }

  /** It is here. Returns whether reading was stopped for it. */
  arrive(): boolean {
    const wasSentFor = this.#state === 'coming';
    this.#state = 'here';
    this.#answers = this.#greeted;
    for (const message of this.#missed) this.#options.deliver(message);
    this.#missed = [];
    return wasSentFor;
  }
}
