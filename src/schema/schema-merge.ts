/**
 * Merges `allOf` and similar keywords into one schema node.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { resolveReference } from './schema-reference.ts';

/** The node that is meant: references followed, the parts of `allOf` merged into it. What the node itself says wins. */
export function wholeNode(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const node = resolveReference(schema, root);
  if (!Array.isArray(node.allOf)) return node;
  const parts = partsOf(node, root, LIMITS.schema.mergedLevels, []);
  const properties = merged(parts, (part) => entriesOf(part.properties));
  const required = merged(parts, (part) => (Array.isArray(part.required) ? part.required : []));
  // Entries, not assignment: a property may be named `__proto__`.
  return Object.fromEntries([
    ...parts.flatMap((part) => Object.entries(part)),
    ...(properties.length > 0 ? [['properties', Object.fromEntries(properties)]] : []),
    ...(required.length > 0 ? [['required', required]] : []),
  ]);
}

/** Returns the parts of `allOf`, nested parts first, and last the node without it. */
function partsOf(node: JsonSchema, root: JsonSchema, levels: number, parts: JsonSchema[]): readonly JsonSchema[] {
  const { allOf, ...own } = node;
  for (const part of Array.isArray(allOf) && levels > 0 ? allOf : []) {
    if (parts.length >= LIMITS.schema.parts) break;
    if (isObject(part)) partsOf(resolveReference(part, root), root, levels - 1, parts);
  }
  parts.push(own);
  return parts;
}

function merged<T>(parts: readonly JsonSchema[], listOf: (part: JsonSchema) => readonly T[]): T[] {
  const all: T[] = [];
  for (const part of parts) {
    if (all.length >= LIMITS.schema.mergedNames) break;
    all.push(...listOf(part).slice(0, LIMITS.schema.mergedNames - all.length));
  }
  return all;
}

/** Returns the alternatives of a node, without impossible ones; empty when it has none. */
export function branchesOf(node: JsonSchema): readonly unknown[] {
  const branches = node.anyOf ?? node.oneOf;
  if (!Array.isArray(branches)) return [];
  return branches.filter((branch) => branch !== false && !(isObject(branch) && isNothing(branch)));
}

/** Returns the names each alternative requires, if they specify nothing else: `[['id'], ['name']]`. */
export function requiredSets(node: JsonSchema): readonly (readonly string[])[] {
  const branches = branchesOf(node);
  const sets = branches.map((branch) =>
    isObject(branch) && Object.keys(branch).every((key) => ABOUT_REQUIRED.has(key)) && Array.isArray(branch.required)
      ? branch.required.filter((name): name is string => typeof name === 'string')
      : [],
  );
  return sets.every((set) => set.length > 0) ? sets : [];
}

const ABOUT_REQUIRED: ReadonlySet<string> = new Set(['required', 'title', 'description', 'not', '$comment']);

/** Some generators write "undefined" as `{"not": {}}`. */
const isNothing = ({ not, ...rest }: JsonSchema): boolean =>
  isObject(not) && Object.keys(not).length === 0 && Object.keys(rest).length === 0;

/** Returns the entries of what should be an object. */
export const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);
