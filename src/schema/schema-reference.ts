/**
 * Resolves `$ref` within one schema. Never fetches anything.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';

/** Follows local references, a bounded number of times; keywords beside a reference win. Anything else stays as it is. */
export function resolveReference(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let node = schema;
  for (let hops = 0; hops < LIMITS.schema.hops && typeof node.$ref === 'string'; hops++) {
    const { $ref: reference, ...beside } = node;
    const target = lookUp(reference as string, root);
    if (!target) return beside;
    // Most references stand alone. The target itself can be recognised by what has read it before.
    node = Object.keys(beside).length === 0 ? target : { ...target, ...beside };
  }
  return node;
}

function lookUp(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (!reference.startsWith('#') || reference.length > LIMITS.schema.reference) return undefined;
  let node: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    if (typeof node !== 'object' || node === null) return undefined;
    const name = part.replace(/~1/g, '/').replace(/~0/g, '~');
    node = Object.hasOwn(node, name) ? (node as Record<string, unknown>)[name] : undefined;
  }
  return typeof node === 'object' && node !== null ? (node as JsonSchema) : undefined;
}
