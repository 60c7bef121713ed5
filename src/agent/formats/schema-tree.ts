/**
 * Lists which keywords contain schemas, and walks over them.
 * @module
 */
import type { JsonSchema } from '../../core/types.ts';
import { setOwn } from '../../json/json-copy.ts';

/** A schema that is an object; `true` and `false` are schemas too. */
export type Node = JsonSchema;

/** Keywords with one schema. */
export const SINGLE: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords with a list of schemas. */
export const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** Keywords with schemas by name. */
export const MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
/** Keywords that describe a value without restricting it. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$comment',
  '$defs',
  'definitions',
  'default',
  'deprecated',
  'description',
  'example',
  'examples',
  'optional',
  'readOnly',
  'title',
  'writeOnly',
]);

/** Keywords whose loss is worth mentioning in a description or a report. */
export const SAYING: ReadonlySet<string> = new Set([
  ...['default', 'example', 'examples', 'exclusiveMaximum', 'exclusiveMinimum', 'format', 'maxItems', 'maxLength'],
  ...['maxProperties', 'maximum', 'minItems', 'minLength', 'minProperties', 'minimum', 'multipleOf', 'pattern'],
  ...['uniqueItems', 'contains', 'propertyNames', 'not', 'if', 'dependentRequired', 'dependentSchemas', 'dependencies'],
]);

export const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the names in a list such as `required`. */
export const namesIn = (value: unknown): string[] => listOf(value).filter((name) => typeof name === 'string');

/** Returns the own entries of an object. */
export const entriesOf = (value: unknown): [string, unknown][] => (isNode(value) ? Object.entries(value) : []);

/** Returns the direct sub-schemas of a node. */
export function childrenOf(node: Node): readonly unknown[] {
  const children: unknown[] = [];
  for (const key of Object.keys(node)) {
    const value = node[key];
    if (SINGLE.has(key)) children.push(value);
    else if (LISTS.has(key)) for (const one of listOf(value)) children.push(one);
    else if (MAPS.has(key) && isNode(value)) for (const name of Object.keys(value)) children.push(value[name]);
  }
  return children;
}

/**
 * Returns the schema with every sub-schema changed, innermost first; unchanged parts are not copied. The depth was
 * limited when the schema was read.
 */
export function mapSchema(schema: unknown, change: (node: Node) => Node): unknown {
  if (!isNode(schema)) return schema;
  const inside = (value: unknown) => mapSchema(value, change);
  return change(
    mapValues(schema, (value, key) => {
      if (SINGLE.has(key)) return inside(value);
      if (MAPS.has(key) && isNode(value)) return mapValues(value, inside);
      if (!LISTS.has(key) || !Array.isArray(value)) return value;
      const changed = value.map(inside);
      return changed.some((one, at) => one !== value[at]) ? changed : value;
    }),
  );
}

/** Returns the object with other values; the same object if none changed. */
function mapValues(node: Node, change: (value: unknown, key: string) => unknown): Node {
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(node)) {
    const value = change(node[key], key);
    if (value === node[key]) continue;
    changed ??= { ...node };
    setOwn(changed, key, value);
  }
  return changed ?? node;
}

/** Tells whether two JSON values are equal, whatever the order of their keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  if (!isNode(a) || !isNode(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

/** Returns every value once. */
export function distinct<T>(values: readonly T[]): T[] {
  if (values.every((value) => typeof value === 'string')) return [...new Set(values)];
  const known = new Map<string, T>();
  for (const value of values) {
    const key = JSON.stringify(value);
    if (!known.has(key)) known.set(key, value);
  }
  return [...known.values()];
}
