/**
 * Collects the words of an untrusted input schema: parameter names, descriptions and permitted values. Work is bounded.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema, ToolMetadata } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';

/** The texts of a schema that help to find its tool. */
interface SchemaText {
  readonly names: readonly string[];
  readonly descriptions: readonly string[];
  readonly values: readonly string[];
}

/** The texts of a tool's parameters, whichever way they are known. */
export function parametersOf({ inputSchema, parameters = [] }: ToolMetadata): SchemaText {
  // Some servers send null.
  if (inputSchema) return readSchema(inputSchema);
  const known = parameters.slice(0, LIMITS.search.schemaNames);
  return {
    names: known.map(({ name }) => name),
    descriptions: known.map(({ description }) => description.slice(0, LIMITS.search.schemaText)),
    values: [],
  };
}

/** Collects the searchable texts of a JSON Schema, breadth first, so that a cut loses the deepest ones. */
export function readSchema(schema: JsonSchema): SchemaText {
  const names: string[] = [];
  const descriptions: string[] = [];
  const values: string[] = [];
  let room = LIMITS.search.schemaTexts;
  const queue: { readonly node: Record<string, unknown>; readonly depth: number }[] = [{ node: schema, depth: 0 }];

  const visit = (node: unknown, depth: number): void => {
    if (isObject(node) && depth <= LIMITS.search.schemaDepth && queue.length < LIMITS.search.schemaNodes)
      queue.push({ node, depth });
  };

  for (let index = 0; index < queue.length; index++) {
    const { node, depth } = queue[index] as (typeof queue)[number];
    if (depth > 0 && typeof node.description === 'string' && room > 0) {
      const text = node.description.slice(0, Math.min(LIMITS.search.schemaText, room));
      room -= text.length;
      descriptions.push(text);
    }
    for (const value of Array.isArray(node.enum) ? node.enum.slice(0, LIMITS.search.schemaValues) : [node.const]) {
      if (typeof value === 'string' && value.length <= 64 && values.length < LIMITS.search.schemaValues)
        values.push(value);
    }
    if (isObject(node.properties)) {
      for (const [name, child] of Object.entries(node.properties)) {
        if (names.length >= LIMITS.search.schemaNames) break;
        names.push(name.slice(0, 128));
        visit(child, depth + 1);
      }
    }
    visit(node.items, depth + 1);
    visit(node.additionalProperties, depth + 1);
    for (const branches of [node.anyOf, node.oneOf, node.allOf]) {
      if (Array.isArray(branches)) for (const branch of branches.slice(0, 32)) visit(branch, depth + 1);
    }
  }
  return { names, descriptions, values };
}
