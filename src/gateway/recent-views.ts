/**
 * Remembers what an exposed server shows to clients without sessions. Clients of one user with equal capabilities share
 * an entry.
 * @module
 */
import { createHash } from 'node:crypto';
import { elapsedNow } from '../async/clock.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller } from '../core/types.ts';
import type { View } from './exposed-client.ts';

export class RecentViews {
  readonly #views = new Map<string, { readonly view: View; readonly at: number }>();
  readonly #now: () => number;

  constructor(now: () => number = elapsedNow) {
    this.#now = now;
  }

  /** What this caller sees; undefined if that is unknown or stale. */
  of(caller: Caller): View | undefined {
    const known = this.#views.get(keyOf(caller));
    return known && this.#now() - known.at < LIMITS.age.view ? known.view : undefined;
  }

  keep(caller: Caller, view: View): void {
    const key = keyOf(caller);
    this.#views.delete(key);
    this.#views.set(key, { view, at: this.#now() });
    const [oldest] = this.#views.keys();
    if (this.#views.size > LIMITS.atOnce.views && oldest !== undefined) this.#views.delete(oldest);
  }
}

/** Hashed, because the capabilities that a client sends may be long. */
const keyOf = ({ principal, profile, capabilities }: Caller): string =>
  createHash('sha256')
    .update(JSON.stringify([principal, profile, capabilities]))
    .digest('base64');
