/**
 * Turns `key=value` words into the arguments of a tool. The schema gives a value its type; without one it is text.
 *
 * `key:=json` is always parsed as JSON. A repeated key makes a list. `a.b=1` sets `b` of the object `a`, unless the tool
 * has a parameter called `a.b`.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { parametersOf } from '../schema/schema-parameters.ts';
import { resolveReference } from '../schema/schema-reference.ts';
import { nearestName } from '../text/nearest-names.ts';
import { UsageError } from './usage-error.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Tree = Map<string, unknown>;

/** Types in the order they are tried: text fits everything, so it comes last. */
const TYPES = ['null', 'boolean', 'integer', 'number', 'array', 'object', 'string'] as const;
type Type = (typeof TYPES)[number];

/** Whether a word is a `key=value` pair. */
export const isPair = (word: string): boolean => word.indexOf('=') > 0;

/** Adds the pairs to the given arguments. Throws `UsageError` for a value that does not fit its parameter. */
export function argumentsFromPairs(
  pairs: readonly string[],
  schema: JsonSchema = {},
  given: Arguments = {},
): Arguments {
  const written = new Map<string, { readonly texts: string[]; readonly raw: boolean }>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`"${pair}" is not of the form key=value`);
    const raw = pair[at - 1] === ':';
    const key = pair.slice(0, raw ? at - 1 : at);
    const entry = written.get(key) ?? { texts: [], raw };
    if (entry.raw !== raw || (raw && entry.texts.length > 0)) throw new UsageError(`${key} is given twice`);
    entry.texts.push(pair.slice(at + 1));
    written.set(key, entry);
  }
  const tree: Tree = new Map(Object.entries(given));
  for (const [key, { texts, raw }] of written) {
    const { path, node } = placeOf(key, schema);
    put(tree, path, raw ? parsed(texts[0] as string, key) : typedValue(key, texts, node, schema));
  }
  return toObject(tree);
}

/** The keys of pairs. */
export const keysOf = (pairs: readonly string[]): readonly string[] =>
  pairs.map((pair) => pair.slice(0, pair.indexOf('=')).replace(/:$/, ''));

/** Keys that match no parameter, with the one that each resembles. Some tools accept any key. */
export function unknownKeys(
  keys: readonly string[],
  schema: JsonSchema = {},
): readonly { readonly key: string; readonly near: string | undefined }[] {
  const names = parametersOf(schema).map(({ name }) => name);
  return [...new Set(keys)].flatMap((key) => {
    const first = key.split('.', 1)[0] ?? '';
    if (names.includes(key) || names.includes(first)) return [];
    return [{ key: first, near: nearestName(first, names) }];
  });
}

/** The place and the schema of a key: the whole name first, then name by name into objects. */
function placeOf(key: string, root: JsonSchema): { readonly path: readonly string[]; readonly node: JsonSchema } {
  const whole = propertyOf(root, key, root);
  if (whole) return { path: [key], node: whole };
  const names = key.split('.');
  const first = propertyOf(root, names[0] as string, root);
  if (names.length === 1 || names.includes('') || !first) return { path: [key], node: {} };
  let node: JsonSchema = first;
  for (const name of names.slice(1)) node = propertyOf(node, name, root) ?? {};
  return { path: names, node };
}

function propertyOf(schema: JsonSchema, name: string, root: JsonSchema): JsonSchema | undefined {
  for (const { properties } of optionsOf(schema, root)) {
    if (isObject(properties) && Object.hasOwn(properties, name)) {
      const property = properties[name];
      return isObject(property) ? property : {};
    }
  }
  return undefined;
}

/** A schema and its alternatives, with references resolved. */
function optionsOf(schema: JsonSchema, root: JsonSchema, nesting = 0): JsonSchema[] {
  const node = resolveReference(schema, root);
  if (nesting >= LIMITS.schema.pairNesting) return [node];
  const inner = [node.anyOf, node.oneOf, node.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const options = inner
    .slice(0, LIMITS.schema.sentBranches)
    .flatMap((option) => (isObject(option) ? optionsOf(option, root, nesting + 1) : []));
  return [node, ...options].slice(0, LIMITS.schema.sentBranches);
}

function typedValue(key: string, texts: readonly string[], schema: JsonSchema, root: JsonSchema): unknown {
  const options = optionsOf(schema, root);
  const types = typesOf(options);
  const [text = ''] = texts;
  const isList = types.has('array') && (texts.length > 1 || !types.has('string'));
  if (!isList) {
    if (texts.length > 1) throw new UsageError(`${key} is given ${texts.length} times but takes one value`);
    return scalarOf(key, text, options, types);
  }
  if (texts.length === 1) {
    if (text === '') return [];
    const list = tryParse(text);
    if (Array.isArray(list) || (types.has('object') && isObject(list))) return list;
  }
  const items = options.map((option) => option.items).find(isObject) ?? {};
  const itemOptions = optionsOf(items, root);
  return texts.map((item) => scalarOf(key, item, itemOptions, typesOf(itemOptions)));
}

function scalarOf(key: string, text: string, options: readonly JsonSchema[], types: ReadonlySet<Type>): unknown {
  for (const option of options) {
    const choices = Array.isArray(option.enum) ? option.enum : 'const' in option ? [option.const] : [];
    for (const choice of choices)
      if ((typeof choice === 'string' ? choice : JSON.stringify(choice)) === text) return choice;
  }
  if (types.size === 0) return text;
  for (const type of TYPES) {
    if (!types.has(type)) continue;
    if (type === 'string') return text;
    const value = tryParse(text);
    if (value !== undefined && typeOf(value) === (type === 'integer' ? 'number' : type)) return value;
  }
  throw new UsageError(`${key} must be ${[...types].map(withArticle).join(' or ')}, not "${text}"`);
}

const withArticle = (type: Type): string => (type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`);

function typesOf(options: readonly JsonSchema[]): ReadonlySet<Type> {
  const named = options.flatMap(
    ({ type, enum: choices }) => type ?? (Array.isArray(choices) ? choices.map(typeOf) : []),
  );
  const implied = options.some(({ properties, type }) => isObject(properties) && type === undefined) ? ['object'] : [];
  return new Set([...named, ...implied].filter((type): type is Type => TYPES.includes(type as Type)));
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function put(tree: Tree, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    tree.set(name, value);
    return;
  }
  const known = tree.get(name);
  const inner: Tree = known instanceof Map ? known : new Map(isObject(known) ? Object.entries(known) : []);
  tree.set(name, inner);
  put(inner, rest, value);
}

/** A plain object; `__proto__` is an ordinary key. */
const toObject = (tree: Tree): Arguments =>
  Object.fromEntries([...tree].map(([name, value]) => [name, value instanceof Map ? toObject(value) : value]));

function parsed(text: string, key: string): unknown {
  const value = tryParse(text);
  if (value === undefined) throw new UsageError(`${key}:= needs JSON, and "${text}" is not JSON`);
  return value;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
