/**
 * Keeps what announces changes to the clients of the new protocol that listen: one SDK handler for each user and profile,
 * because a handler tells all of its streams the same.
 * @module
 */
import type { ServerResponse } from 'node:http';
import type { createMcpHandler } from '@modelcontextprotocol/server';
import type { Caller } from '../core/types.ts';

type Handler = ReturnType<typeof createMcpHandler>;
type Who = Pick<Caller, 'principal' | 'profile'>;

interface Hearer {
  readonly who: Who;
  readonly handler: Handler;
  readonly stop: (() => void) | undefined;
  streams: number;
}

/** Creates a handler, and relays to it what a caller may hear until the returned function is called. */
interface HearerOptions {
  create(): Handler;
  relay(handler: Handler, who: Who): (() => void) | undefined;
}

export class Hearers {
  readonly #options: HearerOptions;
  readonly #hearers = new Map<string, Hearer>();

  constructor(options: HearerOptions) {
    this.#options = options;
  }

  /** The handler for a stream of a caller. It is kept until its last stream is closed. */
  of({ principal, profile }: Who, response: ServerResponse): Handler {
    const who = { principal, profile };
    const key = JSON.stringify([principal, profile]);
    const hearer = this.#hearers.get(key) ?? this.#open(who);
    this.#hearers.set(key, hearer);
    hearer.streams++;
    const leave = () => {
      if (--hearer.streams > 0) return;
      this.#hearers.delete(key);
      this.#end(hearer);
    };
    if (response.closed || response.destroyed) leave();
    else response.once('close', leave);
    return hearer.handler;
  }

  /** Tells the clients of some callers that the tools have changed. */
  toolsChanged(isFor: (who: Who) => boolean): void {
    for (const { who, handler } of this.#hearers.values()) if (isFor(who)) handler.notify.toolsChanged();
  }

  async close(): Promise<void> {
    const all = [...this.#hearers.values()];
    this.#hearers.clear();
    await Promise.all(all.map((hearer) => this.#end(hearer)));
  }

  #open(who: Who): Hearer {
    const handler = this.#options.create();
    return { who, handler, stop: this.#options.relay(handler, who), streams: 0 };
  }

  async #end({ handler, stop }: Hearer): Promise<void> {
    stop?.();
    await handler.close();
  }
}
