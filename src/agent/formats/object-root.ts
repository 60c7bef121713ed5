/**
 * Makes the root of an input schema what every API requires: an object with properties, without alternatives.
 * Alternatives at the root become one object that allows them all; its description says what they required.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { setOwn } from '../../json/json-copy.ts';
import { mergeAllOf, typesOf } from './merge-schemas.ts';
import { lookUp, referencesIn } from './schema-pointer.ts';
import { entriesOf, isNode, isSame, listOf, mapSchema, type Node, namesIn } from './schema-tree.ts';

/** A schema whose root is an object, and what had to be changed. */
interface ObjectRoot {
  readonly schema: Node;
  readonly notes: readonly string[];
  /** Whether the object accepts anything: it lists no properties and is not closed. */
  readonly isFree: boolean;
}

/** Keywords that no API accepts at the root. */
const REFUSED: ReadonlySet<string> = new Set([
  'enum',
  'const',
  'not',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
  '$dynamicRef',
]);

/**
 * Makes the root an object; keeps its keywords if it already is one. `refers`: whether the schema contains references.
 */
export function objectRoot(schema: Node, refers: boolean): ObjectRoot {
  const notes: string[] = [];
  const whole = wholeOf(schema, schema, notes);
  const types = typesOf(whole.type);
  if (types.length > 0 && !types.includes('object')) {
    notes.push(`the schema describes a value of type ${types.join(' or ')}, but arguments are an object`);
    return { schema: { type: 'object', properties: {} }, notes, isFree: false };
  }
  const root = withoutChoices(whole, schema, notes);
  const made: Record<string, unknown> = { type: 'object', properties: isNode(root.properties) ? root.properties : {} };
  for (const key of Object.keys(root)) {
    if (REFUSED.has(key)) notes.push(`left out ${key} at the top`);
    else if (key !== 'type' && key !== 'properties') setOwn(made, key, root[key]);
  }
  const isFree =
    !isNode(root.properties) && root.additionalProperties !== false && root.unevaluatedProperties !== false;
  return { schema: refers ? withTargets(made, schema) : made, notes, isFree };
}

/** Moves referenced schemas to `$defs` if their original place was removed. */
function withTargets(schema: Node, before: Node): Node {
  const moved = new Map<string, unknown>();
  const names = new Map<string, string>();
  const taken = new Set(entriesOf(schema.$defs).map(([name]) => name));
  const open: unknown[] = [schema];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    for (const reference of referencesIn(part)) {
      if (names.has(reference) || lookUp(reference, schema) !== undefined) continue;
      let name = `part_${names.size + 1}`;
      while (taken.has(name)) name = `_${name}`;
      const target = lookUp(reference, before) ?? true;
      names.set(reference, name);
      moved.set(name, target);
      open.push(target);
    }
  }
  if (names.size === 0) return schema;
  const point = (value: unknown): unknown => {
    const name = names.get(String(value));
    return name === undefined ? value : `#/$defs/${name}`;
  };
  const whole = { ...schema, $defs: Object.fromEntries([...entriesOf(schema.$defs), ...moved]) };
  return mapSchema(whole, (node) => {
    if (node.$ref === undefined && node.$dynamicRef === undefined) return node;
    return {
      ...node,
      ...(node.$ref !== undefined && { $ref: point(node.$ref) }),
      ...(node.$dynamicRef !== undefined && { $dynamicRef: point(node.$dynamicRef) }),
    };
  }) as Node;
}

/** Follows references at the root and merges the parts of `allOf`. */
function wholeOf(node: Node, root: Node, notes: string[]): Node {
  let whole = node;
  for (let hops = 0; hops < LIMITS.schema.hops && typeof whole.$ref === 'string'; hops++) {
    const { $ref, ...beside } = whole;
    const target = lookUp($ref as string, root);
    whole = isNode(target) && target !== node ? { ...target, ...beside } : beside;
  }
  if (!Array.isArray(whole.allOf)) return whole;
  const merged = mergeAllOf(whole, (part) => (isNode(part) && part !== whole ? resolved(part, root) : part));
  if (merged.conflicts.length > 0)
    notes.push(`left out ${[...new Set(merged.conflicts)].join(', ')} of allOf at the top`);
  return merged.node;
}

function resolved(part: Node, root: Node): unknown {
  let node: unknown = part;
  for (let hops = 0; hops < LIMITS.schema.hops && isNode(node) && typeof node.$ref === 'string'; hops++) {
    const { $ref, ...beside } = node;
    const target = lookUp($ref, root);
    node = isNode(target) ? { ...target, ...beside } : beside;
  }
  return node;
}

/** Returns one object that allows every alternative. */
function withoutChoices(node: Node, root: Node, notes: string[]): Node {
  if (!Array.isArray(node.anyOf) && !Array.isArray(node.oneOf)) return node;
  const { anyOf, oneOf, ...own } = node;
  const choices = [anyOf, oneOf].filter((list) => Array.isArray(list));
  let merged: Node = own;
  for (const list of choices) {
    const branches = listOf(list)
      .slice(0, LIMITS.schema.sentBranches)
      .filter(isNode)
      .map((branch) => wholeOf(branch, root, notes));
    merged = joined(merged, branches);
  }
  notes.push('made one object of the alternatives at the top');
  return merged;
}

function joined(own: Node, branches: readonly Node[]): Node {
  const properties = new Map(entriesOf(own.properties));
  const isOwn = new Set(properties.keys());
  for (const branch of branches) {
    for (const [name, schema] of entriesOf(branch.properties)) {
      if (!isOwn.has(name)) properties.set(name, either(properties.get(name), schema));
    }
  }
  const wanted = branches.map((branch) => new Set(namesIn(branch.required)));
  const always = new Set([...(wanted[0] ?? [])].filter((name) => wanted.every((names) => names.has(name))));
  const required = [...new Set([...namesIn(own.required), ...always])];
  const { required: _required, properties: _properties, ...rest } = own;
  // A closed branch says nothing about the names of the others.
  const description = describe(own.description, wanted, always);
  return {
    ...rest,
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(description !== undefined && { description }),
  };
}

function either(known: unknown, schema: unknown): unknown {
  if (known === undefined || isSame(known, schema)) return schema;
  const all = isNode(known) && Object.keys(known).length === 1 && Array.isArray(known.anyOf) ? known.anyOf : [known];
  return all.some((one) => isSame(one, schema)) ? known : { anyOf: [...all, schema] };
}

/** Describes for the model which names belong together. */
function describe(
  own: unknown,
  wanted: readonly ReadonlySet<string>[],
  always: ReadonlySet<string>,
): string | undefined {
  const text = typeof own === 'string' ? own : undefined;
  const sets = wanted.map((names) => [...names].filter((name) => !always.has(name)).join(' + ') || 'none of these');
  if (sets.every((set) => set === 'none of these')) return text;
  const choice = `Give one of: ${[...new Set(sets)].join(' | ')}.`;
  if (choice.length > LIMITS.text.note || text?.includes(choice)) return text;
  return text ? `${text} ${choice}` : choice;
}
