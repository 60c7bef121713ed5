/**
 * Writes JSON Schema as short TypeScript, with defaults and limits: `{name: string, size?: number}[]`,
 * `'open'|'closed'`.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { isPlain, oneLine, shorten, visible } from '../text/plain-text.ts';
import { type SchemaLimits, schemaLimits } from './schema-limits.ts';
import { branchesOf, entriesOf, requiredSets, wholeNode } from './schema-merge.ts';
import { resolveReference } from './schema-reference.ts';

interface TypeTextOptions {
  /** Levels of nested objects that are written out. Default 4. */
  readonly depth?: number;
  /** Longest text; deeper structure, then alternatives are left out until it fits. Default 400. */
  readonly maxChars?: number;
  /** Alternatives that are written out. Default 20. */
  readonly members?: number;
  /** Leaves out defaults, limits and formats. */
  readonly bare?: boolean;
  /** Limits how much may be read, for several types together; a few references can stand for very much. */
  readonly effort?: Effort;
}

/** Properties that take the effort of one node, even when they are not shown. */
const PROPERTIES_PER_NODE = 16;

/** The remaining effort in schema nodes, and a cache of what was read. */
export class Effort {
  left: number;
  readonly #read = new Map<unknown, [string, unknown][]>();
  readonly #merged = new Map<JsonSchema, JsonSchema>();

  constructor(nodes: number = Number.POSITIVE_INFINITY) {
    this.left = nodes;
  }

  /**
   * Returns the properties of a node. Cached, because listing a large object is slow and references lead to it many
   * times.
   */
  propertiesOf({ properties }: JsonSchema): readonly [string, unknown][] {
    const known = this.#read.get(properties);
    if (known) return known;
    const entries = entriesOf(properties);
    this.#read.set(properties, entries);
    return entries;
  }

  /**
   * Returns the node that is meant, with `allOf` merged. Each node is merged once and paid for by its properties, because a
   * few references can ask for the same large merge thousands of times.
   */
  wholeNode(schema: JsonSchema, root: JsonSchema): JsonSchema {
    const node = resolveReference(schema, root);
    if (!Array.isArray(node.allOf)) return node;
    const known = this.#merged.get(node);
    if (known) return known;
    const merged = wholeNode(node, root);
    this.#merged.set(node, merged);
    this.left -= 1 + this.propertiesOf(merged).length / PROPERTIES_PER_NODE;
    return merged;
  }
}

const FEW = 3;

/** Marks a cut. */
export const CUT = '…';

/** Returns the type of a schema; cuts show as `…`. Never throws and always ends, whatever the schema. */
export function typeText(schema: unknown, root: JsonSchema = {}, options: TypeTextOptions = {}): string {
  const {
    depth = LIMITS.schema.typeNesting,
    maxChars = LIMITS.schema.typeChars,
    members = LIMITS.schema.typeMembers,
    bare = false,
    effort = new Effort(),
  } = options;
  // With depth 0, the caller wants the kind of value, not a mark.
  const cutObject = depth === 0 ? 'object' : `{${CUT}}`;
  for (let levels = depth; levels >= 0; levels--) {
    const text = new Writer(root, members, bare ? undefined : schemaLimits, cutObject, effort).write(schema, levels);
    if (text.length <= maxChars && !/^[{}…|()[\]]+$/.test(text)) return text;
  }
  const names = bare ? undefined : namesOnly(schema, root, maxChars, effort);
  if (names && names.length <= maxChars) return names;
  return shorten(new Writer(root, FEW, undefined, cutObject, effort).write(schema, 0), maxChars);
}

/** `{id, name?, … 9 more}`: for a schema too large for types, as many names as fit; for alternatives, their names. */
function namesOnly(schema: unknown, root: JsonSchema, maxChars: number, effort: Effort): string | undefined {
  if (!isObject(schema)) return undefined;
  const node = effort.wholeNode(schema, root);
  if (node.type === 'array' && isObject(node.items)) {
    const item = namesOnly(node.items, root, maxChars - 4, effort);
    return item && (isCompound(item) ? `(${item})[]` : `${item}[]`);
  }
  const branches = branchesOf(node).map(nameOf);
  if (branches.length > 0) return branches.includes('') ? undefined : listed(branches, '|', maxChars);
  const entries = requiredFirst(node, effort);
  if (entries.length === 0) return undefined;
  const names = entries.map(([name, isRequired]) => `${key(name)}${isRequired ? '' : '?'}`);
  // The types are still missing.
  const shown = listed(names, ', ', maxChars - 2);
  return shown && `{${shown}}`;
}

/** Joins as many names as fit, and says how many more there are. */
function listed(names: readonly string[], between: string, maxChars: number): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const next = `${text}${text && between}${name}`;
    const rest = `${between}${CUT} ${names.length - index} more`;
    if (next.length + rest.length > maxChars) return text && `${text}${rest}`;
    text = next;
  }
  return `${text}${between}${CUT}`;
}

/** Returns the name of an alternative: its reference or its title. */
function nameOf(branch: unknown): string {
  if (!isObject(branch)) return '';
  const { $ref, title, type } = branch;
  if (typeof $ref === 'string') return oneLine(/\/([^/]*)$/.exec($ref.slice(-200))?.[1] ?? '', 60);
  return oneLine([title, type].find((one): one is string => typeof one === 'string') ?? '', 60);
}

/** Returns the properties of an object, required ones first, so that a cut list shows them. */
function requiredFirst(node: JsonSchema, effort: Effort): [string, boolean, unknown][] {
  const required = new Set(Array.isArray(node.required) ? node.required : []);
  return effort
    .propertiesOf(node)
    .map(([name, property]): [string, boolean, unknown] => [name, required.has(name), property])
    .sort(([, a], [, b]) => Number(b) - Number(a));
}

class Writer {
  readonly #root: JsonSchema;
  readonly #members: number;
  readonly #limits: SchemaLimits | undefined;
  readonly #cutObject: string;
  readonly #effort: Effort;
  #budget = LIMITS.schema.shown;
  #nesting = 0;

  constructor(root: JsonSchema, members: number, limits: SchemaLimits | undefined, cutObject: string, effort: Effort) {
    this.#root = root;
    this.#members = members;
    this.#limits = limits;
    this.#cutObject = cutObject;
    this.#effort = effort;
  }

  write(schema: unknown, levels: number): string {
    if (!isObject(schema)) return 'any';
    this.#spend(1);
    if (this.#budget < 0 || this.#effort.left < 0 || this.#nesting >= LIMITS.schema.textNesting) return CUT;
    this.#nesting++;
    const node = this.#effort.wholeNode(schema, this.#root);
    const text = this.#type(node, node.type, levels);
    this.#nesting--;
    const nullable = node.nullable === true && !/\bnull$|^any$/.test(text) ? '|null' : '';
    return text + nullable + (this.#limits?.(node) ?? '');
  }

  #spend(nodes: number): void {
    this.#budget -= nodes;
    this.#effort.left -= nodes;
  }

  #type(node: JsonSchema, type: unknown, levels: number): string {
    if ('const' in node) return literal(node.const);
    if (Array.isArray(node.enum)) return this.#union(node.enum, literal);
    const branches = branchesOf(node);
    if (branches.length > 0) return this.#alternatives(node, branches, levels);
    if (Array.isArray(type))
      return this.#union(
        type,
        (one) => (Array.isArray(one) ? 'any' : this.#type(node, one, levels)),
        LIMITS.schema.textParts,
      );
    if (type === 'array' || (type === undefined && node.items !== undefined)) return this.#array(node, levels);
    if (type === 'object' || (type === undefined && node.properties !== undefined)) return this.#object(node, levels);
    return typeof type === 'string' ? oneLine(type, 20) || 'any' : 'any';
  }

  /** `a|b`; with properties `{…} & (a|b)`. Alternatives that only say what is required are not types. */
  #alternatives(node: JsonSchema, branches: readonly unknown[], levels: number): string {
    const sets = requiredSets(node);
    const union =
      sets.length > 0 ? '' : this.#union(branches, (branch) => this.write(branch, levels), LIMITS.schema.textParts);
    if (this.#effort.propertiesOf(node).length === 0) return union || 'object';
    const object = this.#object(node, levels);
    return union === '' || union === 'any' || union === object ? object : `${object} & (${union})`;
  }

  #union(all: readonly unknown[], write: (one: unknown) => string, most = this.#members): string {
    const shown = Math.min(most, this.#members);
    const unique = new Set(all.slice(0, shown).map(write));
    if (unique.has('any')) return 'any';
    if (all.length > shown) unique.add(CUT);
    return [...unique].join('|') || 'any';
  }

  #array(node: JsonSchema, levels: number): string {
    // Older drafts write a tuple as a list of items.
    const tuple = node.prefixItems ?? node.items;
    if (Array.isArray(tuple)) {
      const items = tuple.slice(0, LIMITS.schema.textParts).map((item) => this.write(item, levels));
      return `[${[...items, ...(tuple.length > LIMITS.schema.textParts ? [CUT] : [])].join(', ')}]`;
    }
    const item = this.write(node.items ?? true, levels);
    return isCompound(item) ? `(${item})[]` : `${item}[]`;
  }

  #object(node: JsonSchema, levels: number): string {
    const entries = this.#effort.propertiesOf(node);
    if (entries.length === 0) {
      const values = [node.additionalProperties, ...Object.values(Object(node.patternProperties))].find(
        (value) => isObject(value) && Object.keys(value).length > 0,
      );
      if (values === undefined) return 'object';
      return levels <= 0 ? this.#cutObject : `Record<string, ${this.write(values, levels - 1)}>`;
    }
    if (levels <= 0) return this.#cutObject;
    this.#spend(entries.length / PROPERTIES_PER_NODE);
    const parts = requiredFirst(node, this.#effort)
      .slice(0, LIMITS.schema.textProperties)
      .map(
        ([name, isRequired, property]) => `${key(name)}${isRequired ? '' : '?'}: ${this.write(property, levels - 1)}`,
      );
    if (entries.length > LIMITS.schema.textProperties)
      parts.push(`${CUT} ${entries.length - LIMITS.schema.textProperties} more`);
    return `{${parts.join(', ')}}`;
  }
}

/** Tells whether a type needs parentheses before `[]`: it has alternatives or remarks. */
function isCompound(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (quoted && char === '\\') at++;
    else if (char === "'") quoted = !quoted;
    else if (quoted) continue;
    else if ('{[<('.includes(char)) depth++;
    else if ('}]>)'.includes(char)) depth--;
    else if (depth === 0 && (char === '|' || char === ' ')) return true;
  }
  return false;
}

const literal = (value: unknown): string =>
  typeof value === 'string'
    ? `'${oneLine(visible(value.replaceAll('\\', '\\\\')), 60).replaceAll("'", "\\'")}'`
    : oneLine(visible(JSON.stringify(value) ?? 'any'), 60);

const key = (name: string): string =>
  name.length <= 80 && /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) && isPlain(name)
    ? name
    : `"${oneLine(visible(name.replace(/["\\]/g, '\\$&')), 80)}"`;
