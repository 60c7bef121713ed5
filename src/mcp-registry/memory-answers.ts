/**
 * Keeps the answers of one registry in memory, for a program that keeps nothing on disk. Nothing is synced then.
 * @module
 */
import { TtlCache } from '../cache/ttl-cache.ts';
import { LIMITS } from '../core/limits.ts';
import { type KeptAnswer, RegistryStore } from './registry-store.ts';

export class MemoryAnswers extends RegistryStore {
  readonly #answers = new TtlCache<KeptAnswer>({ maxEntries: LIMITS.registry.answers });

  constructor(url: string) {
    super('', url);
  }

  override async contents(): Promise<undefined> {}

  override async has(): Promise<boolean> {
    return false;
  }

  override async answer(question: string): Promise<KeptAnswer | undefined> {
    return this.#answers.get(question);
  }

  override async keepAnswer(question: string, answer: KeptAnswer): Promise<void> {
    this.#answers.set(question, answer);
  }
}
