/**
 * Loads the SDK when it is first needed, and holds its messages until then.
 * @module
 */
import type { Readable } from 'node:stream';
import type { JsonRpcMessage } from '../connections/json-rpc.ts';

interface LateSdkOptions {
  /** The source of messages. Paused while the SDK loads. */
  readonly input: Readable;
  /** Loads the SDK. Undefined if it is loaded from the start. */
  readonly wake: (() => void) | undefined;
  /** Passes a message to the loaded SDK. */
  readonly deliver: (message: JsonRpcMessage) => void;
}

/** The id of a greeting that is replayed to the SDK. */
const RETOLD = 'anygpt-greeting';

export class LateSdk {
  readonly #options: LateSdkOptions;
  #state: 'absent' | 'coming' | 'here';
  #missed: JsonRpcMessage[] = [];
  /** True once a client of the old protocol was greeted without the SDK. */
  #greeted = false;
  /** True while the SDK's answer to the replayed greeting is pending. */
  #answers = false;

  constructor(options: LateSdkOptions) {
    this.#options = options;
    this.#state = options.wake ? 'absent' : 'here';
  }

  /** True while the SDK is neither loaded nor loading. */
  get isAbsent(): boolean {
    return this.#state === 'absent';
  }

  /** Notes a greeting that was answered without the SDK, to replay it later. */
  greeted(params: JsonRpcMessage['params']): void {
    this.#greeted = true;
    this.#missed.push({ jsonrpc: '2.0', id: RETOLD, method: 'initialize', ...(params && { params }) });
  }

  /** Tells whether this is the SDK's answer to the replayed greeting, which the client already has. */
  isRetold({ id }: JsonRpcMessage): boolean {
    if (!this.#answers || id !== RETOLD) return false;
    this.#answers = false;
    return true;
  }

  forward(message: JsonRpcMessage): void {
    if (this.#state === 'here') return this.#options.deliver(message);
    const isNeeded = !this.#greeted || (message.method !== undefined && message.id !== undefined);
    // Of the notifications of a greeted client, the SDK needs only `initialized`.
    const isReady = message.method === 'notifications/initialized' && this.#missed.length === 1;
    if (this.isAbsent && !isNeeded && !isReady) return;
    this.#missed.push(message);
    if (!this.isAbsent || !isNeeded) return;
    this.#state = 'coming';
    this.#options.input.pause();
    this.#options.wake?.();
  }

  /** Call when the SDK is loaded. Returns whether the input was paused for it. */
  arrive(): boolean {
    const wasSentFor = this.#state === 'coming';
    this.#state = 'here';
    this.#answers = this.#greeted;
    for (const message of this.#missed) this.#options.deliver(message);
    this.#missed = [];
    return wasSentFor;
  }
}
