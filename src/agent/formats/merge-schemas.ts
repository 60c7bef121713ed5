/**
 * Merges the parts of `allOf` into one schema. A property that several parts describe becomes an `allOf` of its own,
 * which is merged in its turn.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { ANNOTATIONS, entriesOf, isNode, isSame, listOf, type Node, namesIn } from './schema-tree.ts';

/** The merged schema, and the keywords that could not be merged. */
interface Merged {
  readonly node: Node;
  readonly conflicts: readonly string[];
}

/** Merges the parts of `allOf`. `resolve` follows a part that is only a reference. */
export function mergeAllOf(node: Node, resolve: (part: unknown) => unknown): Merged {
  const { allOf, ...own } = node;
  if (!Array.isArray(allOf)) return { node, conflicts: [] };
  const conflicts: string[] = [];
  let merged: Node = own;
  for (const part of partsOf(allOf, resolve)) {
    if (part === false) conflicts.push('allOf');
    else if (isNode(part)) merged = mergeTwo(merged, part, conflicts);
  }
  return { node: merged, conflicts };
}

/** Returns the parts, including those of nested `allOf`s. */
function partsOf(allOf: readonly unknown[], resolve: (part: unknown) => unknown): readonly unknown[] {
  const parts: unknown[] = [];
  const open = [...allOf];
  while (open.length > 0 && parts.length < LIMITS.schema.sentParts) {
    const part = resolve(open.shift());
    if (isNode(part) && Array.isArray(part.allOf)) {
      const { allOf: inner, ...rest } = part;
      open.unshift(rest, ...(inner as unknown[]));
    } else parts.push(part);
  }
  return parts;
}

function mergeTwo(a: Node, b: Node, conflicts: string[]): Node {
  const merged = new Map(Object.entries(a));
  for (const [key, theirs] of Object.entries(b)) {
    const ours = merged.get(key);
    if (ours === undefined) merged.set(key, theirs);
    else if (!isSame(ours, theirs)) {
      const both = together(key, ours, theirs);
      if (both !== undefined) merged.set(key, both);
      else if (!ANNOTATIONS.has(key)) conflicts.push(key);
    }
  }
  return Object.fromEntries(merged);
}

/** Merges both values of a keyword; undefined when they contradict. */
function together(key: string, ours: unknown, theirs: unknown): unknown {
  switch (key) {
    case 'properties':
    case '$defs':
      return bothMaps(ours, theirs);
    case 'required':
      return [...new Set([...namesIn(ours), ...namesIn(theirs)])];
    case 'type':
      return bothTypes(ours, theirs);
    case 'enum': {
      const others = new Set(listOf(theirs).map((value) => JSON.stringify(value)));
      const common = listOf(ours).filter((value) => others.has(JSON.stringify(value)));
      return common.length > 0 ? common : undefined;
    }
    case 'items':
    case 'additionalProperties':
      return bothSchemas(ours, theirs);
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return Math.max(Number(ours), Number(theirs));
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return Math.min(Number(ours), Number(theirs));
    default:
      return undefined;
  }
}

function bothMaps(ours: unknown, theirs: unknown): Node {
  const merged = new Map(entriesOf(ours));
  for (const [name, schema] of entriesOf(theirs)) {
    const known = merged.get(name);
    merged.set(name, known === undefined || isSame(known, schema) ? schema : bothSchemas(known, schema));
  }
  return Object.fromEntries(merged);
}

function bothSchemas(ours: unknown, theirs: unknown): unknown {
  if (ours === false || theirs === false) return false;
  if (ours === true) return theirs;
  return theirs === true ? ours : { allOf: [ours, theirs] };
}

/** Returns the types that both allow; an integer is a number. */
function bothTypes(ours: unknown, theirs: unknown): unknown {
  const [a, b] = [typesOf(ours), typesOf(theirs)];
  const allowed = a.flatMap((type) => {
    if (b.includes(type) || (type === 'integer' && b.includes('number'))) return [type];
    return type === 'number' && b.includes('integer') ? ['integer'] : [];
  });
  const common = [...new Set(allowed)];
  if (common.length === 0) return undefined;
  return common.length === 1 ? common[0] : common;
}

/** Returns the types of a node. */
export const typesOf = (type: unknown): readonly string[] => (typeof type === 'string' ? [type] : namesIn(type));
