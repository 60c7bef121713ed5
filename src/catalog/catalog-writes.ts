/**
 * Writes lists and failures to disk in the background. A list that could not be written is kept for the next attempt.
 * @module
 */
import type { DiscoveryError } from '../core/errors.ts';
import type { CatalogEntry } from './catalog-entry.ts';
import type { CatalogStore } from './catalog-store.ts';
import { fromKept, type KeptFailure } from './failure-memory.ts';
import type { Listing } from './listing.ts';
import type { ListingLines } from './listing-file.ts';

export class CatalogWrites {
  readonly #store: CatalogStore | undefined;
  readonly #running = new Set<Promise<void>>();
  /** Lists that could not be written, by server. */
  readonly #unwritten = new Map<string, Listing>();

  /** Without a store, nothing is written. */
  constructor(store: CatalogStore | undefined) {
    this.#store = store;
  }

  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  writeListing(listing: Listing, lines: ListingLines): void {
    const keep = (written: boolean) => {
      if (!written) this.#unwritten.set(listing.server, listing);
    };
    this.run((store) => store.writeListing(listing, lines).then(keep));
  }

  /** Removes and returns the lists that could not be written. */
  takeUnwritten(): readonly Listing[] {
    const unwritten = [...this.#unwritten.values()];
    this.#unwritten.clear();
    return unwritten;
  }

  /** Takes over what another catalogue could not write. */
  inherit(other: CatalogWrites): void {
    for (const [server, listing] of other.#unwritten) this.#unwritten.set(server, listing);
  }

  /** Why servers without a list could not be listed last time, by name. */
  async readFailures(entries: Iterable<CatalogEntry>): Promise<ReadonlyMap<string, DiscoveryError>> {
    const failures = new Map<string, DiscoveryError>();
    const unseen = [...entries].filter(({ isSeen }) => !isSeen);
    await Promise.all(
      unseen.map(async ({ definition: { name }, fingerprint }) => {
        const kept = await this.#store?.readFailure(name, fingerprint);
        if (kept) failures.set(name, fromKept(name, kept));
      }),
    );
    return failures;
  }

  /** Saves a server's failure for the next process, or deletes the saved one. */
  keepFailure({ definition: { name }, fingerprint }: CatalogEntry, failure: KeptFailure | undefined): void {
    this.run(async (store) => {
      if (failure) await store.writeFailure(name, fingerprint, failure);
      else await store.deleteFailure(name, fingerprint);
    });
  }

  /** Starts writing something. */
  run(write: (store: CatalogStore) => Promise<void>): void {
    if (!this.#store) return;
    const tracked = write(this.#store).finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  /** Resolves when everything that was started is written. */
  async done(): Promise<void> {
    await Promise.all(this.#running);
  }
}
