/**
 * Finds the part of a JSON Schema that describes a value, short enough to show.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { JsonSchema } from '../../core/types.ts';
import { excerpt } from '../../execution/validation/excerpt.ts';
import { isObject } from '../../json/plain-object.ts';
import { resolveReference } from '../../schema/schema-reference.ts';

const UNIONS = ['allOf', 'anyOf', 'oneOf'] as const;

/** The part for the last step that the schema describes; the schema itself if it describes none. */
export function schemaPart(schema: JsonSchema, path: readonly PropertyKey[]): unknown {
  let part = schema;
  for (const step of path.slice(0, LIMITS.validation.path)) {
    const next = child(resolveReference(part, schema), step, schema);
    if (next === undefined) break;
    part = next;
  }
  return excerpt(resolveReference(part, schema));
}

function child(node: JsonSchema, step: PropertyKey, root: JsonSchema): JsonSchema | undefined {
  const { properties, additionalProperties, prefixItems, items } = node;
  if (typeof step === 'number' || Array.isArray(prefixItems)) {
    const place = Array.isArray(prefixItems) ? prefixItems[Number(step)] : undefined;
    if (isObject(place ?? items)) return (place ?? items) as JsonSchema;
  }
  if (isObject(properties) && Object.hasOwn(properties, step)) {
    const named = properties[String(step)];
    return isObject(named) ? named : undefined;
  }
  for (const union of UNIONS) {
    for (const branch of list(node[union])) {
      const found = isObject(branch) ? child(resolveReference(branch, root), step, root) : undefined;
      if (found !== undefined) return found;
    }
  }
  return isObject(additionalProperties) ? additionalProperties : undefined;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
