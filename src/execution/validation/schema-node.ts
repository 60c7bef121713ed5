/**
 * Defines a parsed JSON Schema: one node per sub-schema, names in Maps, patterns classified, references resolved.
 * @module
 */

/** The JSON type of a value in schemas (`integer` is a number without fraction). */
export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** A pattern and, once compiled, its matcher. */
export interface PatternNode {
  readonly source: string;
  /** Proven to match in linear time; others must not run on the main thread. */
  readonly linear: boolean;
  /** Undefined when the pattern is not a valid regular expression: it then forbids nothing. */
  test: ((text: string) => boolean) | undefined;
}

/** One sub-schema. Absent keywords are undefined; malformed ones count as absent, so that they forbid nothing. */
export interface SchemaNode {
  /** The sub-schema as written, for messages. */
  readonly source: unknown;
  /** False for the schema `false`. */
  allows: boolean;
  types: ReadonlySet<string> | undefined;
  constant: { readonly value: unknown } | undefined;
  enumeration:
    | { readonly scalars: ReadonlySet<unknown>; readonly others: readonly unknown[]; readonly all: readonly unknown[] }
    | undefined;
  minimum: number | undefined;
  maximum: number | undefined;
  exclusiveMinimum: number | undefined;
  exclusiveMaximum: number | undefined;
  multipleOf: number | undefined;
  minLength: number | undefined;
  maxLength: number | undefined;
  pattern: PatternNode | undefined;
  minItems: number | undefined;
  maxItems: number | undefined;
  uniqueItems: boolean;
  prefixItems: readonly SchemaNode[] | undefined;
  items: SchemaNode | undefined;
  contains: SchemaNode | undefined;
  minContains: number;
  maxContains: number | undefined;
  unevaluatedItems: SchemaNode | undefined;
  properties: ReadonlyMap<string, SchemaNode> | undefined;
  patternProperties: readonly (readonly [PatternNode, SchemaNode])[] | undefined;
  additionalProperties: SchemaNode | undefined;
  propertyNames: SchemaNode | undefined;
  required: readonly string[] | undefined;
  minProperties: number | undefined;
  maxProperties: number | undefined;
  dependentRequired: readonly (readonly [string, readonly string[]])[] | undefined;
  dependentSchemas: readonly (readonly [string, SchemaNode])[] | undefined;
  unevaluatedProperties: SchemaNode | undefined;
  ref: SchemaNode | undefined;
  allOf: readonly SchemaNode[] | undefined;
  anyOf: readonly SchemaNode[] | undefined;
  oneOf: readonly SchemaNode[] | undefined;
  not: SchemaNode | undefined;
  if: SchemaNode | undefined;
  thenPart: SchemaNode | undefined;
  elsePart: SchemaNode | undefined;
}

/** Creates a node that allows everything, to be filled in. */
export const openNode = (source: unknown): SchemaNode => ({
  source,
  allows: true,
  types: undefined,
  constant: undefined,
  enumeration: undefined,
  minimum: undefined,
  maximum: undefined,
  exclusiveMinimum: undefined,
  exclusiveMaximum: undefined,
  multipleOf: undefined,
  minLength: undefined,
  maxLength: undefined,
  pattern: undefined,
  minItems: undefined,
  maxItems: undefined,
  uniqueItems: false,
  prefixItems: undefined,
  items: undefined,
  contains: undefined,
  minContains: 1,
  maxContains: undefined,
  unevaluatedItems: undefined,
  properties: undefined,
  patternProperties: undefined,
  additionalProperties: undefined,
  propertyNames: undefined,
  required: undefined,
  minProperties: undefined,
  maxProperties: undefined,
  dependentRequired: undefined,
  dependentSchemas: undefined,
  unevaluatedProperties: undefined,
  ref: undefined,
  allOf: undefined,
  anyOf: undefined,
  oneOf: undefined,
  not: undefined,
  if: undefined,
  thenPart: undefined,
  elsePart: undefined,
});

/** Returns the sub-schemas that apply to the same value as the node. */
export function inPlace(node: SchemaNode): readonly SchemaNode[] {
  const nodes = [...(node.allOf ?? []), ...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  for (const one of [node.ref, node.not, node.if, node.thenPart, node.elsePart]) if (one !== undefined) nodes.push(one);
  for (const [, dependent] of node.dependentSchemas ?? []) nodes.push(dependent);
  return nodes;
}

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object';
}
