/**
 * Reads a tool's input schema, whatever a server sent, and returns a valid copy in JSON Schema 2020-12 without external
 * references. Valid parts stay unchanged, except `$schema` and `$id`.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { CopyError, isJson, JsonCopier, setOwn } from '../../json/json-copy.ts';
import { isExternal, lookUp, referencesIn } from './schema-pointer.ts';
import { isNode, LISTS, MAPS, mapSchema, type Node, SINGLE, TYPES } from './schema-tree.ts';

/** A usable schema and what was repaired in it, or why there is none. */
type ReadSchema =
  | {
      readonly schema: Node;
      readonly notes: readonly string[];
      /** Whether it contains references. */
      readonly refers: boolean;
      readonly refused?: undefined;
    }
  | { readonly refused: string };

const REMOVED: ReadonlySet<string> = new Set(['$schema', '$id', '$vocabulary']);

/** Reads a schema. Never throws; a tool without a schema takes no arguments. */
export function readSchema(input: unknown): ReadSchema {
  if (input === undefined || input === null)
    return { schema: { type: 'object', properties: {} }, notes: [], refers: false };
  if (!isNode(input)) return { refused: 'Its schema is not an object.' };
  let reader: Reader;
  let schema: Node;
  try {
    reader = new Reader(input);
    schema = reader.schema(input, 0) as Node;
  } catch (error) {
    const why = error instanceof CopyError ? error.message : 'it cannot be read';
    return { refused: `Its schema cannot be used: ${why}.` };
  }
  const notes = reader.invalid.map((what) => `left out invalid JSON Schema: ${what}`);
  if (!reader.refers) return { schema, notes, refers: false };
  const references = [...referencesIn(schema)];
  const external = references.find(isExternal);
  if (external !== undefined)
    return { refused: `Its schema refers to ${external.slice(0, 100)}, which is outside of it.` };
  const lost = references.filter((reference) => lookUp(reference, schema) === undefined);
  if (lost.length === 0) return { schema, notes, refers: true };
  for (const reference of lost.slice(0, LIMITS.answer.notes))
    notes.push(`left out a reference without a target: ${reference.slice(0, 100)}`);
  return { schema: withoutReferences(schema, new Set(lost)), notes, refers: true };
}

const withoutReferences = (schema: Node, lost: ReadonlySet<string>): Node =>
  mapSchema(schema, (node) =>
    node.$ref === undefined && node.$dynamicRef === undefined
      ? node
      : Object.fromEntries(
          Object.entries(node).filter(
            ([key, value]) => !((key === '$ref' || key === '$dynamicRef') && lost.has(value as string)),
          ),
        ),
  ) as Node;

/** Copies one schema node by node and keeps what the standard allows. */
class Reader {
  /** Places of what was left out, the first few. */
  readonly invalid: string[] = [];
  refers = false;
  readonly #copier = new JsonCopier();
  readonly #id: string | undefined;
  /** Names on the path to the current node. */
  readonly #path: string[] = [];

  constructor({ $id }: Node) {
    this.#id = typeof $id === 'string' && $id !== '' ? $id.replace(/#$/, '') : undefined;
  }

  schema(value: unknown, depth: number): unknown {
    this.#copier.count();
    if (typeof value === 'boolean') return value;
    if (!isNode(value)) return undefined;
    this.#copier.enter(depth);
    const node = isOld(value) ? Object.fromEntries(modern(value)) : value;
    const read: Record<string, unknown> = {};
    for (const key of Object.keys(node)) {
      const raw = node[key];
      if (REMOVED.has(key) || !isJson(raw)) continue;
      this.#copier.spend(key);
      const kept = this.#keyword(key, raw, depth + 1);
      if (kept !== undefined) setOwn(read, key, kept);
      else this.#leave(key);
    }
    return read;
  }

  #keyword(key: string, value: unknown, depth: number): unknown {
    const check = CHECKS.get(key);
    if (check) return check(this.#copier.copy(value, depth));
    if (MAPS.has(key)) return this.#map(key, value, depth);
    if (LISTS.has(key)) return this.#list(key, value, depth);
    if (SINGLE.has(key)) return this.#inside(key, value, depth);
    if (key === '$ref' || key === '$dynamicRef') return this.#reference(value);
    return this.#copier.copy(value, depth);
  }

  /** Reads a schema under a name. */
  #inside(name: string, value: unknown, depth: number): unknown {
    this.#path.push(name);
    const schema = this.schema(value, depth);
    this.#path.pop();
    return schema;
  }

  #list(key: string, value: unknown, depth: number): unknown {
    if (!Array.isArray(value)) return undefined;
    this.#copier.enter(depth);
    const schemas: unknown[] = [];
    // By index, not `for of`, so that holes count.
    for (let at = 0; at < value.length; at++) {
      const schema = this.#inside(`${key}[]`, value[at], depth + 1);
      if (schema !== undefined) schemas.push(schema);
    }
    return schemas.length > 0 ? schemas : undefined;
  }

  #map(key: string, value: unknown, depth: number): unknown {
    if (!isNode(value)) return undefined;
    this.#copier.enter(depth);
    this.#path.push(key);
    const schemas: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      this.#copier.spend(name);
      const schema = this.#inside(name, value[name], depth + 1);
      if (schema !== undefined) setOwn(schemas, name, schema);
    }
    this.#path.pop();
    return schemas;
  }

  #reference(value: unknown): unknown {
    if (typeof value !== 'string') return undefined;
    this.#copier.spend(value);
    this.refers = true;
    const id = this.#id;
    if (id !== undefined && (value === id || value.startsWith(`${id}#`))) return value.slice(id.length) || '#';
    return value;
  }

  #leave(key: string): void {
    if (this.invalid.length >= LIMITS.answer.notes) return;
    const place = [...this.#path, key].join('.').slice(0, 100);
    if (!this.invalid.includes(place)) this.invalid.push(place);
  }
}

/** Tells whether a node uses the syntax of older drafts. */
const isOld = ({ items, additionalItems, exclusiveMinimum, exclusiveMaximum }: Node): boolean =>
  additionalItems !== undefined ||
  Array.isArray(items) ||
  typeof exclusiveMinimum === 'boolean' ||
  typeof exclusiveMaximum === 'boolean';

/** Converts the syntax of older drafts. */
function* modern(node: Node): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(node)) {
    if (key === 'items' && Array.isArray(value)) {
      if (value.length > 0) yield ['prefixItems', value];
      if (node.additionalItems !== undefined) yield ['items', node.additionalItems];
    } else if ((key === 'exclusiveMinimum' || key === 'exclusiveMaximum') && typeof value === 'boolean') {
      const limit = node[key === 'exclusiveMinimum' ? 'minimum' : 'maximum'];
      if (value && typeof limit === 'number') yield [key, limit];
    } else if (key === 'minimum' && node.exclusiveMinimum === true) {
      // The exclusive one replaces it.
    } else if (key === 'maximum' && node.exclusiveMaximum === true) {
      // Likewise.
    } else if (key !== 'additionalItems') yield [key, value];
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
const areNames: Check = (value) => {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) return undefined;
  const names = new Set(value);
  return names.size === value.length ? value : [...names];
};

const areNamesByName: Check = (value) => {
  if (!isNode(value) || !Object.values(value).every(areNames)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, names]) => [name, areNames(names)]));
};

/** Returns the known types; unchanged if all are known. */
const areTypes: Check = (value) => {
  if (!Array.isArray(value)) return TYPES.has(value) ? value : undefined;
  const known = [...new Set(value.filter((type) => TYPES.has(type)))];
  return known.length > 0 ? known : undefined;
};

/** Checks that a text is a valid regular expression; it is not run. */
const isPattern: Check = (value) => {
  if (typeof value !== 'string' || value.length > LIMITS.text.pattern) return undefined;
  for (const flags of ['u', '']) {
    try {
      new RegExp(value, flags);
      return value;
    } catch {
      // Valid without the flag is valid for most readers.
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
