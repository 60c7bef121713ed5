/**
 * Checks a value against a schema's nodes, within a budget. Returns the violations, or that the budget ran out. The
 * first pass only answers yes or no; violations are collected in a second one.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { deepEqual, uniqueKey } from './json-equal.ts';
import { type JsonType, jsonTypeOf, type SchemaNode } from './schema-node.ts';
import { evaluatedItems, evaluatedProperties } from './unevaluated.ts';

/** A position in the value: property names and indexes from the root. */
export type Path = readonly (string | number)[];

/** One violated keyword, before it is put into words. */
export interface Violation {
  readonly path: Path;
  readonly keyword: string;
  readonly node: SchemaNode;
  readonly value: unknown;
  /** The property name, for `required` and unknown properties. */
  readonly name?: string | undefined;
  /** The violations of each alternative, for `anyOf` and `oneOf`. */
  readonly branches?: readonly (readonly Violation[])[] | undefined;
}

/** Thrown through the walk when the budget is spent; never leaves this folder. */
class OutOfFuel extends Error {}

/** One walk over a value. `found` is absent when only yes or no is wanted. */
export class Walk {
  fuel: number;
  found: Violation[] | undefined;
  readonly path: (string | number)[] = [];
  #depth = 0;

  constructor(fuel: number) {
    this.fuel = fuel;
  }

  /** Charges the budget. */
  spend(steps: number): void {
    this.fuel -= steps;
    if (this.fuel < 0) throw new OutOfFuel();
  }

  /** Tells whether the value matches the node; violations are added to `found`. */
  fits(node: SchemaNode, value: unknown): boolean {
    this.spend(1);
    if (++this.#depth > LIMITS.validation.depth) throw new OutOfFuel();
    const type = jsonTypeOf(value);
    let good = node.allows || this.no('false', node, value);
    if (good || this.found) good = this.#scalar(node, value, type) && good;
    if ((good || this.found) && hasCombinators(node)) good = this.#combined(node, value) && good;
    if (good || this.found) {
      if (type === 'string') good = this.#string(node, value as string) && good;
      else if (type === 'number') good = this.#number(node, value as number) && good;
      else if (type === 'array') good = this.#array(node, value as unknown[]) && good;
      else if (type === 'object') good = this.#object(node, value as Record<string, unknown>) && good;
    }
    this.#depth--;
    return good;
  }

  /** Tells whether the value matches, without recording violations. */
  quietly(node: SchemaNode, value: unknown): boolean {
    const { found } = this;
    this.found = undefined;
    const good = this.fits(node, value);
    this.found = found;
    return good;
  }

  /** Records a violation; always returns false, for use in expressions. */
  no(keyword: string, node: SchemaNode, value: unknown, extra?: Pick<Violation, 'name' | 'branches'>): false {
    if (this.found !== undefined && this.found.length < LIMITS.validation.violations) {
      this.found.push({ path: [...this.path], keyword, node, value, ...extra });
    }
    return false;
  }

  #at(key: string | number, node: SchemaNode, value: unknown): boolean {
    this.path.push(key);
    const good = this.fits(node, value);
    this.path.pop();
    return good;
  }

  #scalar(node: SchemaNode, value: unknown, type: JsonType): boolean {
    const { types, constant, enumeration } = node;
    if (types !== undefined && !types.has(type)) {
      if (!(type === 'number' && types.has('integer') && Number.isInteger(value))) return this.no('type', node, value);
    }
    if (constant !== undefined && !deepEqual(constant.value, value, this)) return this.no('const', node, value);
    if (enumeration !== undefined && !enumeration.scalars.has(value)) {
      if (!enumeration.others.some((other) => deepEqual(other, value, this))) return this.no('enum', node, value);
    }
    return true;
  }

  #combined(node: SchemaNode, value: unknown): boolean {
    let good = true;
    if (node.ref !== undefined) good = this.fits(node.ref, value) && good;
    for (const part of node.allOf ?? []) {
      if (!good && !this.found) return false;
      good = this.fits(part, value) && good;
    }
    if (node.anyOf !== undefined && !node.anyOf.some((option) => this.quietly(option, value))) {
      good = this.no('anyOf', node, value, this.#branches(node.anyOf, value));
    }
    if (node.oneOf !== undefined) {
      const matches = node.oneOf.filter((option) => this.quietly(option, value)).length;
      if (matches === 0) good = this.no('oneOf', node, value, this.#branches(node.oneOf, value));
      else if (matches > 1) good = this.no('oneOf', node, value);
    }
    if (node.not !== undefined && this.quietly(node.not, value)) good = this.no('not', node, value);
    if (node.if !== undefined) {
      const branch = this.quietly(node.if, value) ? node.thenPart : node.elsePart;
      if (branch !== undefined) good = this.fits(branch, value) && good;
    }
    return good;
  }

  /** Collects the violations of each alternative, if violations are wanted. */
  #branches(options: readonly SchemaNode[], value: unknown): Pick<Violation, 'branches'> | undefined {
    const { found } = this;
    if (found === undefined) return undefined;
    const branches = options.slice(0, LIMITS.validation.violations).map((option) => {
      this.found = [];
      this.fits(option, value);
      return this.found;
    });
    this.found = found;
    return { branches };
  }

  #string(node: SchemaNode, value: string): boolean {
    const { minLength, maxLength, pattern } = node;
    let good = true;
    if (minLength !== undefined || maxLength !== undefined) {
      const length = this.#codePoints(value, Math.max(minLength ?? 0, maxLength ?? 0));
      if (minLength !== undefined && length < minLength) good = this.no('minLength', node, value);
      if (maxLength !== undefined && length > maxLength) good = this.no('maxLength', node, value);
    }
    if (pattern?.test !== undefined) {
      this.spend(value.length >> 4);
      if (!pattern.test(value)) good = this.no('pattern', node, value);
    }
    return good;
  }

  /** Returns the length in code points, counted only if the length in UTF-16 units does not decide. */
  #codePoints(value: string, limit: number): number {
    if (value.length <= limit && value.length < 2) return value.length;
    if (value.length > 2 * limit + 1) return Math.ceil(value.length / 2);
    this.spend(value.length >> 4);
    let count = 0;
    for (const _ of value) count++;
    return count;
  }

  #number(node: SchemaNode, value: number): boolean {
    let good = true;
    if (node.minimum !== undefined && value < node.minimum) good = this.no('minimum', node, value);
    if (node.maximum !== undefined && value > node.maximum) good = this.no('maximum', node, value);
    if (node.exclusiveMinimum !== undefined && value <= node.exclusiveMinimum) {
      good = this.no('exclusiveMinimum', node, value);
    }
    if (node.exclusiveMaximum !== undefined && value >= node.exclusiveMaximum) {
      good = this.no('exclusiveMaximum', node, value);
    }
    if (node.multipleOf !== undefined) {
      if (!isMultiple(value, node.multipleOf)) good = this.no('multipleOf', node, value);
    }
    return good;
  }

  #array(node: SchemaNode, value: readonly unknown[]): boolean {
    const { prefixItems, items, contains, minItems, maxItems } = node;
    let good = true;
    if (minItems !== undefined && value.length < minItems) good = this.no('minItems', node, value);
    if (maxItems !== undefined && value.length > maxItems) good = this.no('maxItems', node, value);
    const fixed = prefixItems?.length ?? 0;
    for (let i = 0; i < value.length && (good || this.found); i++) {
      const item = i < fixed ? prefixItems?.[i] : items;
      if (item === undefined) break;
      good = this.#at(i, item, value[i]) && good;
    }
    if (contains !== undefined) {
      const count = value.filter((item) => this.quietly(contains, item)).length;
      if (count < node.minContains || count > (node.maxContains ?? count)) good = this.no('contains', node, value);
    }
    if (node.uniqueItems) {
      const seen = new Set(value.map((item) => uniqueKey(item, this)));
      if (seen.size < value.length) good = this.no('uniqueItems', node, value);
    }
    if (node.unevaluatedItems !== undefined) {
      const done = evaluatedItems(node, value, this);
      for (let i = 0; i < value.length; i++) {
        if (!done(i)) good = this.#at(i, node.unevaluatedItems, value[i]) && good;
      }
    }
    return good;
  }

  #object(node: SchemaNode, value: Readonly<Record<string, unknown>>): boolean {
    let good = true;
    for (const name of node.required ?? []) {
      if (!Object.hasOwn(value, name)) good = this.no('required', node, value, { name });
    }
    for (const [name, needed] of node.dependentRequired ?? []) {
      if (!Object.hasOwn(value, name)) continue;
      for (const other of needed) {
        if (!Object.hasOwn(value, other)) good = this.no('required', node, value, { name: other });
      }
    }
    for (const [name, dependent] of node.dependentSchemas ?? []) {
      if (Object.hasOwn(value, name)) good = this.fits(dependent, value) && good;
    }
    if (!good && !this.found) return false;
    const keys = Object.keys(value);
    if (node.minProperties !== undefined && keys.length < node.minProperties) {
      good = this.no('minProperties', node, value);
    }
    if (node.maxProperties !== undefined && keys.length > node.maxProperties) {
      good = this.no('maxProperties', node, value);
    }
    for (const key of keys) {
      if (!good && !this.found) return false;
      good = this.#property(node, value, key) && good;
    }
    if (node.unevaluatedProperties !== undefined) {
      const done = evaluatedProperties(node, value, this);
      for (const key of keys) {
        if (!done(key)) good = this.#extra(node, node.unevaluatedProperties, key, value[key]) && good;
      }
    }
    return good;
  }

  #property(node: SchemaNode, value: Readonly<Record<string, unknown>>, key: string): boolean {
    let good = true;
    const known = node.properties?.get(key);
    if (known !== undefined) good = this.#at(key, known, value[key]);
    let matched = known !== undefined;
    for (const [pattern, sub] of node.patternProperties ?? []) {
      this.spend(1 + (key.length >> 4));
      // An unreadable pattern counts as matching, so that it forbids nothing.
      if (pattern.test === undefined) matched = true;
      else if (pattern.test(key)) {
        matched = true;
        good = this.#at(key, sub, value[key]) && good;
      }
    }
    if (!matched && node.additionalProperties !== undefined) {
      good = this.#extra(node, node.additionalProperties, key, value[key]) && good;
    }
    if (node.propertyNames !== undefined && !this.quietly(node.propertyNames, key)) {
      good = this.no('propertyNames', node, value, { name: key });
    }
    return good;
  }

  #extra(node: SchemaNode, sub: SchemaNode, key: string, value: unknown): boolean {
    if (!sub.allows) return this.no('additionalProperties', node, value, { name: key });
    return this.#at(key, sub, value);
  }
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  if (!Number.isFinite(times) || (Number.isInteger(value) && Number.isInteger(of))) return value % of === 0;
  // Decimal fractions are inexact in binary: 0.3 must count as a multiple of 0.1.
  return Math.abs(times - Math.round(times)) <= 4 * Number.EPSILON * Math.abs(times);
}

const hasCombinators = (node: SchemaNode): boolean =>
  node.ref !== undefined ||
  node.allOf !== undefined ||
  node.anyOf !== undefined ||
  node.oneOf !== undefined ||
  node.not !== undefined ||
  node.if !== undefined;

/** Returns all violations, none when the value matches, or `exhausted` when the budget ran out. */
export function checkValue(
  root: SchemaNode,
  value: unknown,
  fuel: number = LIMITS.validation.fuel,
): readonly Violation[] | 'exhausted' {
  const walk = new Walk(fuel);
  try {
    if (walk.fits(root, value)) return NONE;
    walk.found = [];
    walk.path.length = 0;
    walk.fits(root, value);
    return walk.found;
  } catch (thrown) {
    // A RangeError is a stack overflow: the value is nested too deep.
    if (thrown instanceof OutOfFuel || thrown instanceof RangeError)
      return walk.found?.length ? walk.found : 'exhausted';
    throw thrown;
  }
}

const NONE: readonly Violation[] = [];
