/**
 * Keeps the resources that one client of the old protocol has subscribed to.
 * @module
 */
import type { UpstreamCall } from './upstream.ts';

/** Answers one kind of request. */
type OnRequest = (method: string, answer: (call: UpstreamCall) => Promise<unknown>) => void;

/** Watches a resource for a client. Resolves with how to end that. */
type Watch = (uri: string, call: UpstreamCall) => Promise<() => void>;

export class ClientSubscriptions {
  readonly #watching = new Map<string, Promise<() => void>>();

  /** Answers the client's requests. */
  serve(on: OnRequest, watch: Watch): void {
    on('resources/subscribe', async (call) => {
      const uri = String(call.params.uri);
      const watching = this.#watching.get(uri) ?? watch(uri, call);
      this.#watching.set(uri, watching);
      await watching.catch((error: unknown) => {
        if (this.#watching.get(uri) === watching) this.#watching.delete(uri);
        throw error;
      });
      return {};
    });
    on('resources/unsubscribe', async ({ params: { uri } }) => {
      this.#end(String(uri));
      return {};
    });
  }

  has(uri: string): boolean {
    return this.#watching.has(uri);
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const uri of [...this.#watching.keys()]) this.#end(uri);
  }

  #end(uri: string): void {
    const watching = this.#watching.get(uri);
    this.#watching.delete(uri);
    void watching?.then(
      (end) => end(),
      // A refused subscription has nothing to end.
      () => {},
    );
  }
}
