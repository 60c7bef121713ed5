/**
 * Any value in, a copy of it as plain JSON out, or why there is none. Bounded in depth and size, so that what works on
 * the copy need not be.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';

/** What is too big or too deep to be copied. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

/** Copies parts of one value; all of them together stay within the bounds, or it throws `CopyError`. */
export class JsonCopier {
  #values = LIMITS.json.copyValues;
  #characters = LIMITS.json.copyChars;

  /** What JSON can hold of a value, at this depth; undefined for what it cannot hold. */
  copy(value: unknown, depth: number): unknown {
    this.count();
    if (typeof value === 'string') {
      this.spend(value);
      return value;
    }
    if (!isJson(value)) return undefined;
    if (typeof value !== 'object' || value === null) return value;
    this.enter(depth);
    if (Array.isArray(value)) return this.#list(value, depth + 1);
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      this.spend(key);
      const item = this.copy((value as Record<string, unknown>)[key], depth + 1);
      if (item !== undefined) setOwn(copy, key, item);
    }
    return copy;
  }

  #list(items: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = [];
    // JSON has no holes in arrays.
    for (let at = 0; at < items.length; at++) copy.push(this.copy(items[at], depth) ?? null);
    return copy;
  }

  /** Takes one value from what is left. */
  count(): void {
    if (--this.#values < 0) throw new CopyError('it is too big');
  }

  /** Takes a text or a key from what is left. */
  spend(text: string): void {
    this.#characters -= text.length;
    if (this.#characters < 0) throw new CopyError('it is too big');
  }

  /** Goes into an array or an object; also the end of a value that holds itself. */
  enter(depth: number): void {
    if (depth >= LIMITS.json.depth) throw new CopyError(`it is nested more than ${LIMITS.json.depth} levels deep`);
  }
}

/** Whether JSON can hold a value, not looking inside. */
export function isJson(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'object':
      return true;
    case 'number':
      return Number.isFinite(value);
    default:
      return false;
  }
}

/** Sets a property whatever its name: a plain assignment to `__proto__` is none. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
