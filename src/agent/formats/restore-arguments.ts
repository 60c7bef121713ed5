/**
 * Converts a model's arguments for a changed schema back to the tool's own: restores renamed parameters, and drops the
 * nulls that strict mode requires for left-out parameters.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { typesOf } from './merge-schemas.ts';
import { lookUp } from './schema-pointer.ts';
import { isNode, listOf, type Node, namesIn } from './schema-tree.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Gives renamed parameters their own names back. */
export function restoreNames(args: Arguments, renamed: ReadonlyMap<string, string> = new Map()): Arguments {
  if (renamed.size === 0) return args;
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [renamed.get(name) ?? name, value]));
}

/** Drops nulls that mean a left-out parameter: those that the tool's own schema neither allows nor requires. */
export function dropNulls(args: Arguments, schema: Node): Arguments {
  return clean(args, [schema], schema, 0) as Arguments;
}

function clean(value: unknown, schemas: readonly unknown[], root: Node, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > LIMITS.json.depth) return value;
  const variants = variantsOf(schemas, root);
  if (Array.isArray(value)) {
    const items = variants.flatMap(({ items: one }) => (isNode(one) ? [one] : []));
    return items.length === 0 ? value : value.map((item) => clean(item, items, root, depth + 1));
  }
  const kept: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    const described = variants.filter(({ properties }) => isNode(properties) && Object.hasOwn(properties, name));
    const inner = described.map(({ properties }) => (properties as Node)[name]);
    const isOptional = described.some(({ required }) => !namesIn(required).includes(name));
    if (item === null && isOptional && !variantsOf(inner, root).some(takesNull)) continue;
    kept.push([name, clean(item, inner, root, depth + 1)]);
  }
  return Object.fromEntries(kept);
}

/** Returns every plain schema that these may stand for: references followed, alternatives separated. */
function variantsOf(schemas: readonly unknown[], root: Node): readonly Node[] {
  const variants: Node[] = [];
  const seen = new Set<unknown>();
  const open = [...schemas];
  while (open.length > 0 && variants.length < LIMITS.schema.sentParts) {
    const schema = open.shift();
    if (!isNode(schema) || seen.has(schema)) continue;
    seen.add(schema);
    variants.push(schema);
    if (typeof schema.$ref === 'string') open.push(lookUp(schema.$ref, root));
    open.push(...listOf(schema.anyOf), ...listOf(schema.oneOf), ...listOf(schema.allOf));
  }
  return variants;
}

function takesNull(node: Node): boolean {
  if (node.const !== undefined) return node.const === null;
  if (Array.isArray(node.enum)) return node.enum.includes(null);
  if (node.type !== undefined) return typesOf(node.type).includes('null');
  // A node that only points elsewhere says nothing itself; an empty one allows anything.
  return (
    !POINTING.some((keyword) => node[keyword] !== undefined) &&
    !DESCRIBING.some((keyword) => node[keyword] !== undefined)
  );
}

const POINTING = ['$ref', 'anyOf', 'oneOf', 'allOf'];
const DESCRIBING = ['properties', 'items', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'format'];
