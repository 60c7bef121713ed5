/**
 * Counts lookups that were answered from the cache, without asking a server. Keeps the counts of the last thirty days,
 * of all gateways that share the folder. Counts may be lost without harm.
 * @module
 */
import { wallNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import { withLock } from '../disk/file-lock.ts';
import { isObject } from '../json/plain-object.ts';
import { FileStore } from './file-store.ts';
import { type DocumentType, readDocument, writeDocument } from './versioned.ts';

/** Lookups answered from the cache, and the others. */
interface Lookups {
  readonly hits: number;
  readonly misses: number;
}

/** Lookups by day, such as `2026-01-31`. */
type Days = Readonly<Record<string, Lookups>>;

const KEY = 'lookups';
const DAY = /^\d{4}-\d\d-\d\d$/;

const KEPT: DocumentType<Days> = {
  kind: 'lookups',
  version: 1,
  check: (data): data is Days => isObject(data) && Object.entries(data).every(([day, one]) => isDay(day, one)),
};

const isDay = (day: string, one: unknown): boolean =>
  DAY.test(day) && isObject(one) && [one.hits, one.misses].every((count) => Number.isSafeInteger(count));

export class LookupCounts {
  readonly #store: FileStore;
  readonly #now: () => number;
  #pending = { hits: 0, misses: 0 };
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param now milliseconds since 1970 */
  constructor(folder: string, now: () => number = wallNow) {
    this.#store = new FileStore(folder);
    this.#now = now;
  }

  get folder(): string {
    return this.#store.root;
  }

  /** Counts one lookup; written a little later. */
  count(hit: boolean): void {
    if (hit) this.#pending.hits++;
    else this.#pending.misses++;
    this.#timer ??= setTimeout(() => void this.flush(), LIMITS.pace.saving).unref();
  }

  /** Returns all lookups since a point in time, as far as they are kept. Days count as a whole. */
  async read(since = 0): Promise<Lookups> {
    const first = dayOf(since);
    const days = Object.entries(await this.#days()).filter(([day]) => day >= first);
    return days.reduce((sum, [, one]) => added(sum, one), this.#pending);
  }

  /** Writes pending counts. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(async () => {
      const pending = this.#pending;
      if (pending.hits + pending.misses === 0) return;
      this.#pending = { hits: 0, misses: 0 };
      const add = async () => {
        const today = dayOf(this.#now());
        const days = await this.#days();
        const next = { ...days, [today]: added(days[today], pending) };
        const kept = Object.entries(next).sort().slice(-LIMITS.cache.days);
        await writeDocument(this.#store, KEY, KEPT, Object.fromEntries(kept));
      };
      // Failed writes are ignored: lost counts do no harm.
      await withLock(this.#store.pathOf(KEY), add, { waitMs: LIMITS.time.lastWrite }).catch(() => undefined);
    });
    return this.#writing;
  }

  async #days(): Promise<Days> {
    return (await readDocument(this.#store, KEY, KEPT).catch(() => undefined)) ?? {};
  }
}

/** Adds the hit rate, which is 0 without lookups. */
export const withRate = ({ hits, misses }: Lookups): Lookups & { readonly hitRate: number } => ({
  hits,
  misses,
  hitRate: hits + misses === 0 ? 0 : hits / (hits + misses),
});

const added = (one: Lookups | undefined, other: Lookups): { hits: number; misses: number } => ({
  hits: (one?.hits ?? 0) + other.hits,
  misses: (one?.misses ?? 0) + other.misses,
});

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
