/**
 * Says why a value cannot be written as JSON, or what JSON makes of it, within bounds. A program's own values may have
 * getters, `toJSON` and BigInts; what was parsed from JSON has none.
 * @module
 */
import { types } from 'node:util';
import { LIMITS } from '../core/limits.ts';
import { setOwn } from './json-copy.ts';

/**
 * Why a value cannot be written as JSON, in words that continue "Arguments …"; undefined if it can. Never throws.
 * `tell`: describes what a getter, `toJSON` or proxy in it threw.
 */
export function jsonFault(value: unknown, tell?: (thrown: unknown) => string): string | undefined {
  return plainJson(value, tell).fault;
}

/** A value that is written the same each time, or why there is none. */
export type PlainJson =
  | { readonly value: unknown; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: string };

/**
 * Reads everything in a value once. Parts with getters, `toJSON` or proxies, which may say something else next time, are
 * replaced by what they said; a value without such parts is returned itself. Never throws.
 */
export function plainJson(value: unknown, tell = (_thrown: unknown): string => THREW): PlainJson {
  try {
    return { value: new Reading().read(value, LIMITS.json.depth, false) };
  } catch (thrown) {
    return { fault: thrown instanceof Fault ? thrown.message : `cannot be read: ${tell(thrown)}` };
  }
}

/** In words that continue "Arguments …". */
class Fault extends Error {}

class Reading {
  /** How many values may still be looked at: a few shared objects, or a list of holes, can stand for any number. */
  #left: number = LIMITS.json.walkedValues;
  /** How many values may still come out of `toJSON`, which can go on for ever. */
  #written: number = LIMITS.json.copyValues;

  /** Recursion is limited by `levels`, and much faster than an explicit stack. */
  read(value: unknown, levels: number, isWritten: boolean): unknown {
    if (typeof value === 'bigint') throw new Fault(BIGINT);
    if (!isDeep(value)) return value;
    if (levels === 0) throw new Fault(`are nested more than ${LIMITS.json.depth} levels deep, or refer to themselves`);
    if (isWritten && --this.#written < 0) throw new Fault('have a toJSON that writes too much');
    const { toJSON } = value as { toJSON?: unknown };
    const isAsked = typeof toJSON === 'function';
    // JSON asks once: what `toJSON` returns is written as it is, even if it is the same object.
    const shown: unknown = isAsked ? toJSON.call(value, '') : value;
    if (typeof shown === 'function') return undefined;
    if (typeof shown !== 'object' || shown === null) return this.read(shown, levels, true);
    if (shown instanceof BigInt) throw new Fault(BIGINT);
    // A text or a number in a box is asked for its value, and may throw.
    if (shown instanceof String || shown instanceof Number) return JSON.parse(JSON.stringify(shown));
    const mayChange = isAsked || types.isProxy(shown);
    const inner = isWritten || isAsked;
    return Array.isArray(shown)
      ? this.#list(shown, levels - 1, inner, mayChange)
      : this.#record(shown as Record<string, unknown>, levels - 1, inner, mayChange);
  }

  #list(items: readonly unknown[], levels: number, isWritten: boolean, mayChange: boolean): readonly unknown[] {
    const { length } = items;
    this.#spend(length);
    let copy: unknown[] | undefined = mayChange ? [] : undefined;
    for (let at = 0; at < length; at++) {
      const item = items[at];
      const read = this.read(item, levels, isWritten);
      if (copy === undefined && (read !== item || isGetter(items, at))) {
        copy = [];
        // Read again: what a getter ran may have changed them.
        for (let before = 0; before < at; before++) copy.push(this.read(items[before], levels, isWritten));
      }
      copy?.push(read);
    }
    return copy ?? items;
  }

  #record(
    record: Readonly<Record<string, unknown>>,
    levels: number,
    isWritten: boolean,
    mayChange: boolean,
  ): Readonly<Record<string, unknown>> {
    const keys = Object.keys(record);
    this.#spend(keys.length);
    let copy: Record<string, unknown> | undefined = mayChange ? {} : undefined;
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string;
      const item = record[key];
      const read = this.read(item, levels, isWritten);
      if (copy === undefined && (read !== item || isGetter(record, key))) {
        copy = {};
        for (const before of keys.slice(0, at)) setOwn(copy, before, this.read(record[before], levels, isWritten));
      }
      if (copy !== undefined) setOwn(copy, key, read);
    }
    return copy ?? record;
  }

  #spend(values: number): void {
    this.#left -= values;
    if (this.#left < 0) throw new Fault(`hold more than ${LIMITS.json.walkedValues} values`);
  }
}

const THREW = 'a getter, toJSON or proxy in them threw';
const BIGINT = 'hold a BigInt, which JSON cannot have: write it as a text or a number';

/** Whether JSON looks into a value. A function is left out, unless it has a `toJSON`. */
const isDeep = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

const isGetter = (holder: object, key: PropertyKey): boolean =>
  Object.getOwnPropertyDescriptor(holder, key)?.get !== undefined;
