/**
 * A tool's input schema in, whatever a server sent; a copy out that is valid JSON Schema 2020-12 and refers to nothing
 * outside of itself. What was valid stays as it is, without `$schema` and `$id`.
 * @module
 */
import { CopyError, copyJson } from './json-copy.ts';
import { isExternal, lookUp, referencesIn } from './schema-pointer.ts';
import { isNode, LISTS, MAPS, mapSchema, type Node, SINGLE, TYPES } from './schema-tree.ts';

/** A schema that can be used and what was mended in it, or why there is none. */
export type ReadSchema =
  | { readonly schema: Node; readonly notes: readonly string[]; readonly refused?: undefined }
  | { readonly refused: string };

const MAX_NOTES = 5;
const MAX_PATTERN = 5000;
const REMOVED: ReadonlySet<string> = new Set(['$schema', '$id', '$vocabulary']);

/** Reads a schema. Never throws; a tool without one takes no arguments. */
export function readSchema(input: unknown): ReadSchema {
  if (input === undefined || input === null) return { schema: { type: 'object', properties: {} }, notes: [] };
  let copy: unknown;
  try {
    copy = copyJson(input);
  } catch (error) {
    const why = error instanceof CopyError ? error.message : 'it cannot be read';
    return { refused: `Its schema cannot be used: ${why}.` };
  }
  if (!isNode(copy)) return { refused: 'Its schema is not an object.' };
  const reader = new Reader(copy);
  const schema = reader.schema(copy, '') as Node;
  const references = [...referencesIn(schema)];
  const external = references.find(isExternal);
  if (external !== undefined)
    return { refused: `Its schema refers to ${external.slice(0, 100)}, which is outside of it.` };
  const lost = references.filter((reference) => lookUp(reference, schema) === undefined);
  const notes = [
    ...[...reader.invalid].slice(0, MAX_NOTES).map((what) => `left out what is not valid JSON Schema: ${what}`),
    ...lost.slice(0, MAX_NOTES).map((reference) => `left out a reference to nothing: ${reference.slice(0, 100)}`),
  ];
  return { schema: lost.length === 0 ? schema : withoutReferences(schema, new Set(lost)), notes };
}

const withoutReferences = (schema: Node, lost: ReadonlySet<string>): Node =>
  mapSchema(schema, (node) =>
    Object.fromEntries(
      Object.entries(node).filter(
        ([key, value]) => !((key === '$ref' || key === '$dynamicRef') && lost.has(value as string)),
      ),
    ),
  ) as Node;

/** Takes one schema node by node and keeps what the standard allows. */
class Reader {
  /** Places of what was left out. */
  readonly invalid = new Set<string>();
  readonly #id: string | undefined;

  constructor({ $id }: Node) {
    this.#id = typeof $id === 'string' && $id !== '' ? $id.replace(/#$/, '') : undefined;
  }

  schema(value: unknown, path: string): unknown {
    if (typeof value === 'boolean') return value;
    if (!isNode(value)) return undefined;
    const entries: [string, unknown][] = [];
    for (const [key, raw] of this.#modern(value)) {
      if (REMOVED.has(key)) continue;
      const kept = this.#keyword(key, raw, path === '' ? key : `${path}.${key}`);
      if (kept !== undefined) entries.push([key, kept]);
      else if (this.invalid.size < MAX_NOTES) this.invalid.add(path === '' ? key : `${path}.${key}`.slice(0, 100));
    }
    return Object.fromEntries(entries);
  }

  /** What older drafts wrote in another way. */
  *#modern(node: Node): Generator<[string, unknown]> {
    for (const [key, value] of Object.entries(node)) {
      if (key === 'items' && Array.isArray(value)) {
        if (value.length > 0) yield ['prefixItems', value];
        if (node.additionalItems !== undefined) yield ['items', node.additionalItems];
      } else if ((key === 'exclusiveMinimum' || key === 'exclusiveMaximum') && typeof value === 'boolean') {
        const limit = node[key === 'exclusiveMinimum' ? 'minimum' : 'maximum'];
        if (value && typeof limit === 'number') yield [key, limit];
      } else if (key === 'minimum' && node.exclusiveMinimum === true) {
        // Said by the exclusive one.
      } else if (key === 'maximum' && node.exclusiveMaximum === true) {
        // Likewise.
      } else if (key !== 'additionalItems') yield [key, value];
    }
  }

  #keyword(key: string, value: unknown, path: string): unknown {
    if (SINGLE.has(key)) return this.schema(value, path);
    if (LISTS.has(key)) return this.#list(value, path);
    if (MAPS.has(key)) return this.#map(value, path);
    if (key === '$ref' || key === '$dynamicRef') return this.#reference(value);
    const check = CHECKS.get(key);
    return check ? check(value) : value;
  }

  #list(value: unknown, path: string): unknown {
    if (!Array.isArray(value)) return undefined;
    const schemas = value.flatMap((one) => this.schema(one, `${path}[]`) ?? []);
    return schemas.length > 0 ? schemas : undefined;
  }

  #map(value: unknown, path: string): unknown {
    if (!isNode(value)) return undefined;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, one]) => {
        const schema = this.schema(one, `${path}.${name}`);
        return schema === undefined ? [] : [[name, schema]];
      }),
    );
  }

  #reference(value: unknown): unknown {
    if (typeof value !== 'string') return undefined;
    const id = this.#id;
    if (id !== undefined && (value === id || value.startsWith(`${id}#`))) return value.slice(id.length) || '#';
    return value;
  }
}

type Check = (value: unknown) => unknown;

const isText: Check = (value) => (typeof value === 'string' ? value : undefined);
const isFlag: Check = (value) => (typeof value === 'boolean' ? value : undefined);
const isNumber: Check = (value) => (typeof value === 'number' ? value : undefined);
const isCount: Check = (value) => (Number.isSafeInteger(value) && (value as number) >= 0 ? value : undefined);
const isAnchor: Check = (value) =>
  typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value) ? value : undefined;
const isFilled: Check = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined);
const isList: Check = (value) => (Array.isArray(value) ? value : undefined);
const areNames: Check = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === 'string') ? [...new Set(value)] : undefined;

const areNamesByName: Check = (value) => {
  if (!isNode(value) || !Object.values(value).every(areNames)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, names]) => [name, areNames(names)]));
};

/** The types there are, as they were written when all of them exist. */
const areTypes: Check = (value) => {
  if (!Array.isArray(value)) return TYPES.has(value) ? value : undefined;
  const known = [...new Set(value.filter((type) => TYPES.has(type)))];
  return known.length > 0 ? known : undefined;
};

/** Whether this is a regular expression at all; it is not run. */
const isPattern: Check = (value) => {
  if (typeof value !== 'string' || value.length > MAX_PATTERN) return undefined;
  for (const flags of ['u', '']) {
    try {
      new RegExp(value, flags);
      return value;
    } catch {
      // Valid without the flag is valid for most.
    }
  }
  return undefined;
};

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['type', areTypes],
  ['required', areNames],
  ['enum', isFilled],
  ['examples', isList],
  ['pattern', isPattern],
  ['multipleOf', (value) => (typeof value === 'number' && value > 0 ? value : undefined)],
  ['dependentRequired', areNamesByName],
  ...['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum'].map((key): [string, Check] => [key, isNumber]),
  ...['Contains', 'Items', 'Length', 'Properties'].flatMap((key): [string, Check][] => [
    [`min${key}`, isCount],
    [`max${key}`, isCount],
  ]),
  ...['$comment', 'contentEncoding', 'contentMediaType', 'description', 'format', 'title'].map(
    (key): [string, Check] => [key, isText],
  ),
  ...['deprecated', 'readOnly', 'uniqueItems', 'writeOnly'].map((key): [string, Check] => [key, isFlag]),
  ...['$anchor', '$dynamicAnchor'].map((key): [string, Check] => [key, isAnchor]),
]);
