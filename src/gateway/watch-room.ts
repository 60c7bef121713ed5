/**
 * Shares the resources that clients may watch at the same time, so that one client does not watch so many that others
 * cannot watch any.
 * @module
 */
import { leavesRoom } from '../core/fair-share.ts';
import { LIMITS } from '../core/limits.ts';

export class WatchRoom {
  readonly #held = new Map<string, number>();
  #total = 0;

  /** Takes up to `wanted` places for a client. Returns how many it got. */
  take(client: string, wanted: number): number {
    const before = this.#held.get(client) ?? 0;
    let held = before;
    while (
      held - before < wanted &&
      held < LIMITS.wire.watched &&
      leavesRoom(held, LIMITS.wire.watchedByAll - this.#total)
    ) {
      held++;
      this.#total++;
    }
    if (held > 0) this.#held.set(client, held);
    return held - before;
  }

  leave(client: string, places: number): void {
    const held = (this.#held.get(client) ?? 0) - places;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
    this.#total -= places;
  }
}
