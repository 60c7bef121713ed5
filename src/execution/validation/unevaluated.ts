/**
 * Tells which properties and items a schema has already evaluated, for `unevaluatedProperties` and `unevaluatedItems`.
 * @module
 */
import type { Walk } from './check-value.ts';
import { inPlace, type SchemaNode } from './schema-node.ts';

/** Returns a function that tells whether an applicable keyword evaluated a property. */
export function evaluatedProperties(
  node: SchemaNode,
  value: Readonly<Record<string, unknown>>,
  walk: Walk,
): (key: string) => boolean {
  const looking = applying(node, value, walk);
  return (key) =>
    looking.some(
      (one) =>
        one.properties?.has(key) ||
        one.additionalProperties !== undefined ||
        (one !== node && one.unevaluatedProperties !== undefined) ||
        one.patternProperties?.some(([pattern]) => {
          walk.spend(1 + (key.length >> 4));
          return pattern.test === undefined || pattern.test(key);
        }),
    );
}

/** Returns a function that tells whether an applicable keyword evaluated an item. */
export function evaluatedItems(node: SchemaNode, value: readonly unknown[], walk: Walk): (index: number) => boolean {
  const looking = applying(node, value, walk);
  return (index) =>
    looking.some(
      (one) =>
        index < (one.prefixItems?.length ?? 0) ||
        one.items !== undefined ||
        (one !== node && one.unevaluatedItems !== undefined) ||
        (one.contains !== undefined && walk.quietly(one.contains, value[index])),
    );
}

/** Returns the node and all in-place sub-schemas that accept the value. */
function applying(node: SchemaNode, value: unknown, walk: Walk): SchemaNode[] {
  const found = [node];
  for (const part of inPlace(node)) {
    walk.spend(1);
    if (!counts(node, part, value, walk) || !walk.quietly(part, value)) continue;
    found.push(...applying(part, value, walk));
  }
  return found;
}

function counts(node: SchemaNode, part: SchemaNode, value: unknown, walk: Walk): boolean {
  if (part === node.not) return false;
  if (node.if !== undefined && (part === node.thenPart || part === node.elsePart)) {
    return (part === node.thenPart) === walk.quietly(node.if, value);
  }
  const dependent = node.dependentSchemas?.find(([, sub]) => sub === part);
  return dependent === undefined || (typeof value === 'object' && value !== null && Object.hasOwn(value, dependent[0]));
}
