/**
 * Answers small questions about one schema node: its implied type, whether it allows null, whether any value matches.
 * @module
 */
import { typesOf } from './merge-schemas.ts';
import { ANNOTATIONS, isNode, isSame, listOf, type Node } from './schema-tree.ts';

const TYPE_OF_KEYWORD: readonly (readonly [type: string, ...keywords: string[]])[] = [
  ['object', 'properties', 'additionalProperties', 'patternProperties', 'required', 'minProperties', 'maxProperties'],
  ['array', 'items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  ['string', 'minLength', 'maxLength', 'pattern', 'format'],
  ['number', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];

/** Returns the only types that a node without `type` can mean. */
export function impliedTypes(node: Node): readonly string[] {
  const values = node.const === undefined ? listOf(node.enum) : [node.const];
  if (values.length > 0) return [...new Set(values.map(typeOf))];
  const found = TYPE_OF_KEYWORD.find(([, ...keywords]) => keywords.some((keyword) => node[keyword] !== undefined));
  return found ? [found[0]] : [];
}

/** Returns the JSON Schema type of a value. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Tells whether no value matches: `false`, or `{"not": {}}`, which some generators write for "undefined". */
export function isNever(schema: unknown): boolean {
  if (schema === false) return true;
  if (!isNode(schema)) return false;
  const { not } = schema;
  return (
    (not === true || (isNode(not) && Object.keys(not).length === 0)) &&
    Object.keys(schema).every((key) => key === 'not' || key === 'description')
  );
}

/** Tells whether a fitted node allows null. */
export function allowsNull(node: Node): boolean {
  if (node.const !== undefined) return node.const === null;
  if (Array.isArray(node.enum)) return node.enum.includes(null);
  const branches = [...listOf(node.anyOf), ...listOf(node.oneOf)];
  if (branches.length > 0) return branches.some((branch) => isNode(branch) && allowsNull(branch));
  return typesOf(node.type).includes('null');
}

const NULL: Node = { type: 'null' };

/** Returns the node with null allowed. */
export function nullable(node: Node): Node {
  if (Array.isArray(node.anyOf)) return { ...node, anyOf: [...node.anyOf, NULL] };
  if (node.$ref !== undefined || node.const !== undefined || node.type === undefined) {
    const { description, title, ...rest } = node;
    return {
      anyOf: [rest, NULL],
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
    };
  }
  const types = [...new Set([...typesOf(node.type), 'null'])];
  return {
    ...node,
    type: types.length === 1 ? types[0] : types,
    ...(Array.isArray(node.enum) && { enum: withNull(node.enum) }),
  };
}

/** Returns the node with null as a separate alternative. */
export function orNull(node: Node): Node {
  const words = Object.entries(node).filter(([key]) => ANNOTATIONS.has(key));
  const {
    type,
    enum: values,
    ...rest
  } = Object.fromEntries(Object.entries(node).filter(([key]) => !ANNOTATIONS.has(key)));
  const types = typesOf(type).filter((one) => one !== 'null');
  const other = {
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }),
    ...rest,
  };
  return { ...Object.fromEntries(words), anyOf: [other, NULL] };
}

/** Converts OpenAPI's `nullable` to JSON Schema. */
export function withoutNullable(node: Node): Node {
  if (node.nullable === undefined) return node;
  const { nullable: isNullable, ...rest } = node;
  const isSaid = allowsNull(rest) || Object.keys(rest).every((key) => ANNOTATIONS.has(key));
  return isNullable === true && !isSaid ? orNull(rest) : rest;
}

const withNull = (values: readonly unknown[]): unknown[] =>
  values.some((value) => isSame(value, null)) ? [...values] : [...values, null];

/** Tells whether a pattern has no look-around, back references or word boundaries. */
export const isSimplePattern = (pattern: string): boolean => !/\(\?[=!<]|\\[1-9bBk]/.test(pattern);

/** Unwraps an `allOf` around one reference, which generators write to add a description. */
export function liftReference(node: Node): Node {
  if (!Array.isArray(node.allOf)) return node;
  const { allOf, ...own } = node;
  const [only] = listOf(allOf);
  const isWrap = listOf(allOf).length === 1 && isNode(only) && typeof only.$ref === 'string' && own.$ref === undefined;
  return isWrap && Object.keys(own).every((key) => ANNOTATIONS.has(key)) ? { ...only, ...own } : node;
}
