/**
 * Remembers what a server of the old protocol asks its clients, over any connection. Its questions do not say which
 * call they belong to, and one may come after its call was answered. So each connection of a server that asks serves
 * one client.
 * @module
 */

export const ROOTS = 'roots/list';

export class QuestionHabits {
  /** Whether it has ever asked anything. */
  asks = false;
  /** Whether it has ever asked for more than roots, which the same callers answer the same way. */
  asksMore = false;

  note(method: string): void {
    this.asks = true;
    if (method !== ROOTS) this.asksMore = true;
  }
}
