/**
 * Finds the part of a schema at a path written by an agent.
 *
 * A path is a parameter (`filter`), a dotted path into one (`filter.conditions.op`, which passes through arrays,
 * references and alternatives), or a pointer as in a `$ref`.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';

/** A part of a schema and its place. */
export interface SchemaPart {
  /** `/properties/filter`; empty for the schema itself. */
  readonly pointer: string;
  readonly value: unknown;
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const INSIDE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];

/** The part of a schema at a path; undefined if there is none. */
export function findPart(root: JsonSchema, path: string): SchemaPart | undefined {
  if (path === '') return { pointer: '', value: root };
  if (path.startsWith('#') || path.startsWith('/')) {
    const pointer = path.startsWith('#') ? path.slice(1) : path;
    return atPointer(root, pointer) ?? atPointer(root, decoded(pointer));
  }
  return byNames(root, path);
}

/** The target of a reference. Undefined if the node is not a reference, or has objects beside its `$ref`. */
export function referredPart(root: JsonSchema, node: object): SchemaPart | undefined {
  const { $ref, ...beside } = node as Record<string, unknown>;
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return undefined;
  if (Object.values(beside).some((value) => typeof value === 'object' && value !== null)) return undefined;
  const target = findPart(root, $ref);
  return target && isObject(target.value) ? { ...target, value: { ...target.value, ...beside } } : undefined;
}

/** One step of a pointer, with the name escaped. */
export const step = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function atPointer(root: JsonSchema, pointer: string): SchemaPart | undefined {
  let value: unknown = root;
  for (const part of pointer === '' ? [] : pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return { pointer, value };
}

/** A `$ref` is part of a URL and may be percent-encoded. */
function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

function byNames(root: JsonSchema, path: string): SchemaPart | undefined {
  const start: SchemaPart = { pointer: '', value: root };
  const whole = named(root, start, path);
  if (whole) return whole;
  let part: SchemaPart | undefined = start;
  for (const name of path.split('.')) {
    const plain = name.replaceAll('[]', '');
    if (plain !== '') part = part && (named(root, part, plain) ?? named(root, part, name));
  }
  if (part && part !== start) return part;
  // The path may name a definition: types mention definitions by name.
  const [definition] = ['$defs', 'definitions'].flatMap((key) => atPointer(root, `/${key}${step(path)}`) ?? []);
  return definition;
}

/** Finds the nearest property of that name in a node, following references, lists and alternatives. */
function named(root: JsonSchema, from: SchemaPart, name: string): SchemaPart | undefined {
  const queue: SchemaPart[] = [from];
  const seen = new Set<string>();
  for (let at = 0; at < queue.length && at < LIMITS.schema.places; at++) {
    const { pointer, value } = queue[at] as SchemaPart;
    if (seen.has(pointer) || !isObject(value)) continue;
    seen.add(pointer);
    const { properties, $ref } = value;
    if (isObject(properties) && Object.hasOwn(properties, name))
      return { pointer: `${pointer}/properties${step(name)}`, value: properties[name] };
    const target = typeof $ref === 'string' && $ref.startsWith('#') ? findPart(root, $ref || '#') : undefined;
    if (target) queue.push(target);
    for (const key of ALTERNATIVES) {
      const list = value[key];
      if (Array.isArray(list)) queue.push(...list.map((one, i) => ({ pointer: `${pointer}/${key}/${i}`, value: one })));
    }
    for (const key of INSIDE) if (isObject(value[key])) queue.push({ pointer: `${pointer}/${key}`, value: value[key] });
  }
  // Some servers write the parameters where the schema should be.
  const bare = isObject(from.value) && from.pointer === '' && Object.hasOwn(from.value, name);
  return bare ? { pointer: step(name), value: root[name] } : undefined;
}
