/**
 * Copies any value as plain JSON, or says why it cannot. Limits depth and size, so that code working on the copy needs
 * no limits.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** The value is too big or too deep to copy. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

/** Copies parts of one value; throws `CopyError` if together they exceed the limits. */
export class JsonCopier {
  #values = LIMITS.json.copyValues;
  #characters: number;

  constructor(characters: number = LIMITS.json.copyChars) {
    this.#characters = characters;
  }

  /** Returns what JSON can represent of a value, at this depth; undefined if nothing. */
  copy(value: unknown, depth: number): unknown {
    this.count();
    if (typeof value === 'string') {
      this.spend(value);
      return value;
    }
    if (!isJson(value)) return undefined;
    if (typeof value !== 'object' || value === null) return value;
    this.enter(depth);
    const { toJSON } = value as { toJSON?: unknown };
    return this.#members(typeof toJSON === 'function' ? toJSON.call(value) : value, depth);
  }

  /** Copies what `toJSON` returned as it is, even if it is the same object: JSON asks once. */
  #members(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return this.copy(value, depth);
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

  /** Charges one value. */
  count(): void {
    if (--this.#values < 0) throw new CopyError('it is too big');
  }

  /** Charges a text or a key. */
  spend(text: string): void {
    this.#characters -= text.length;
    if (this.#characters < 0) throw new CopyError('it is too big');
  }

  /** Enters an array or an object; also stops at a cyclic value. */
  enter(depth: number): void {
    if (depth >= LIMITS.json.depth) throw new CopyError(`it is nested more than ${LIMITS.json.depth} levels deep`);
  }
}

/** Tells whether JSON can represent a value, without looking inside. */
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

/** Sets a property of any name: a plain assignment to `__proto__` would set the prototype. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
