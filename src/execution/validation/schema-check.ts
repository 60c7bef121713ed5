/**
 * Limits what a schema may cost before it is used. Returns nodes with a verdict, or why the schema is unusable.
 *
 * `harmless` means that all patterns are linear and that one value is checked against at most 5,000 sub-schemas;
 * together with the budget of `check-value` this limits the total. Everything else is `doubtful` and belongs on the
 * worker thread.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { inPlace, type PatternNode, type SchemaNode } from './schema-node.ts';
import { SCHEMA_LIMITS, type SchemaLimits, SchemaReader, UnusableSchema } from './schema-reader.ts';

/** What the static check found. */
export type CheckedSchema =
  | { readonly verdict: 'harmless' | 'doubtful'; readonly root: SchemaNode; readonly patterns: readonly PatternNode[] }
  | { readonly verdict: 'unusable'; readonly reason: string };

/** Reads a schema and proves it harmless, or says why not. Never throws, never fetches. */
export function checkSchema(schema: unknown, limits: SchemaLimits = SCHEMA_LIMITS): CheckedSchema {
  const reader = new SchemaReader(schema, limits);
  try {
    const root = reader.read();
    checkExpansion(root, limits.subSchemas);
    const patterns = [...reader.patterns];
    return { verdict: patterns.every((pattern) => pattern.linear) ? 'harmless' : 'doubtful', root, patterns };
  } catch (thrown) {
    if (thrown instanceof UnusableSchema) return { verdict: 'unusable', reason: thrown.message };
    throw thrown;
  }
}

/** Refuses references that form an in-place cycle, and those that expand exponentially. */
function checkExpansion(root: SchemaNode, most: number): void {
  const cost = new Map<SchemaNode, number>();
  const open = new Set<SchemaNode>();
  const costOf = (node: SchemaNode): number => {
    const known = cost.get(node);
    if (known !== undefined) return known;
    if (open.has(node)) throw new UnusableSchema('its references form a cycle');
    if (open.size >= LIMITS.validation.chain) throw new UnusableSchema('its references form too long a chain');
    open.add(node);
    let sum = 1;
    for (const part of inPlace(node)) sum = Math.min(sum + costOf(part), Number.MAX_SAFE_INTEGER);
    open.delete(node);
    if (sum > most) throw new UnusableSchema(`one value would be checked against more than ${most} sub-schemas`);
    cost.set(node, sum);
    return sum;
  };
  const seen = new Set<SchemaNode>([root]);
  for (const node of seen) {
    costOf(node);
    for (const child of children(node)) seen.add(child);
  }
}

/** Returns the parts of a node, those that apply to the same value included. */
export function* children(node: SchemaNode): Iterable<SchemaNode> {
  yield* inPlace(node);
  yield* node.prefixItems ?? [];
  yield* node.properties?.values() ?? [];
  for (const [, child] of node.patternProperties ?? []) yield child;
  for (const one of [
    node.items,
    node.contains,
    node.unevaluatedItems,
    node.additionalProperties,
    node.propertyNames,
    node.unevaluatedProperties,
  ]) {
    if (one !== undefined) yield one;
  }
}
