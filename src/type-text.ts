/**
 * JSON Schema as short TypeScript: `{name: string, size?: number}[]`, `'open'|'closed'`, with defaults and limits kept.
 * @module
 */
import { oneLine, shorten } from './plain-text.ts';
import { type SchemaLimits, schemaLimits } from './schema-limits.ts';
import { resolveReference } from './schema-reference.ts';
import type { JsonSchema } from './types.ts';

export interface TypeTextOptions {
  /** Levels of nested objects that are written out. Default 4. */
  readonly depth?: number;
  /** Longest text; deeper structure, then alternatives are left out until it fits. Default 400. */
  readonly maxChars?: number;
  /** Alternatives that are written out. Default 20. */
  readonly members?: number;
  /** Leave out defaults, limits and formats. */
  readonly bare?: boolean;
}

const MAX_PROPERTIES = 30;
const MAX_PARTS = 8;
/** Nesting of any kind; a schema that refers to itself ends here. */
const MAX_NESTING = 12;
const MAX_NODES = 2000;
const FEW = 3;

/** The type of a schema. Never throws, always ends, whatever the schema. */
export function typeText(schema: unknown, root: JsonSchema = {}, options: TypeTextOptions = {}): string {
  const { depth = 4, maxChars = 400, members = 20, bare = false } = options;
  for (let levels = depth; levels >= 0; levels--) {
    const text = new Writer(root, members, bare ? undefined : schemaLimits).write(schema, levels);
    if (text.length <= maxChars) return text;
  }
  return shorten(new Writer(root, FEW, undefined).write(schema, 0), maxChars);
}

class Writer {
  readonly #root: JsonSchema;
  readonly #members: number;
  readonly #limits: SchemaLimits | undefined;
  #budget = MAX_NODES;
  #nesting = 0;

  constructor(root: JsonSchema, members: number, limits: SchemaLimits | undefined) {
    this.#root = root;
    this.#members = members;
    this.#limits = limits;
  }

  write(schema: unknown, levels: number): string {
    if (typeof schema !== 'object' || schema === null || --this.#budget < 0 || this.#nesting >= MAX_NESTING)
      return 'any';
    this.#nesting++;
    const node = resolveReference(schema as JsonSchema, this.#root);
    const text = this.#type(node, node.type, levels);
    this.#nesting--;
    return text + (this.#limits?.(node) ?? '');
  }

  #type(node: JsonSchema, type: unknown, levels: number): string {
    if ('const' in node) return literal(node.const);
    if (Array.isArray(node.enum)) return this.#union(node.enum, literal);
    const branches = node.anyOf ?? node.oneOf;
    if (Array.isArray(branches)) return this.#union(branches, (branch) => this.write(branch, levels), MAX_PARTS);
    if (Array.isArray(node.allOf)) return this.#object(mergeAll(node, this.#root), levels);
    if (Array.isArray(type))
      return this.#union(type, (one) => (Array.isArray(one) ? 'any' : this.#type(node, one, levels)), MAX_PARTS);
    if (type === 'array' || (type === undefined && node.items !== undefined)) return this.#array(node, levels);
    if (type === 'object' || (type === undefined && node.properties !== undefined)) return this.#object(node, levels);
    return typeof type === 'string' ? oneLine(type, 20) || 'any' : 'any';
  }

  #union(all: readonly unknown[], write: (one: unknown) => string, most = this.#members): string {
    const shown = Math.min(most, this.#members);
    const unique = new Set(all.slice(0, shown).map(write));
    if (unique.has('any')) return 'any';
    if (all.length > shown) unique.add('…');
    return [...unique].join('|') || 'any';
  }

  #array(node: JsonSchema, levels: number): string {
    if (Array.isArray(node.prefixItems)) {
      const items = node.prefixItems.slice(0, MAX_PARTS).map((item) => this.write(item, levels));
      return `[${items.join(', ')}]`;
    }
    const item = this.write(node.items ?? true, levels);
    return isCompound(item) ? `(${item})[]` : `${item}[]`;
  }

  #object(node: JsonSchema, levels: number): string {
    const entries = Object.entries(isObject(node.properties) ? node.properties : {});
    if (levels <= 0) return 'object';
    if (entries.length === 0) {
      const { additionalProperties: values } = node;
      return isObject(values) ? `Record<string, ${this.write(values, levels - 1)}>` : 'object';
    }
    const required = new Set(Array.isArray(node.required) ? node.required : []);
    // What must be given comes first, so that a cut list still shows it.
    entries.sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
    const parts = entries
      .slice(0, MAX_PROPERTIES)
      .map(([name, property]) => `${key(name)}${required.has(name) ? '' : '?'}: ${this.write(property, levels - 1)}`);
    if (entries.length > MAX_PROPERTIES) parts.push(`… ${entries.length - MAX_PROPERTIES} more`);
    return `{${parts.join(', ')}}`;
  }
}

function mergeAll(node: JsonSchema, root: JsonSchema): JsonSchema {
  const parts = [node, ...(node.allOf as unknown[]).slice(0, MAX_PARTS)].map((part) =>
    isObject(part) ? resolveReference(part, root) : {},
  );
  // Entries, not assignment: a property may be called `__proto__`.
  const properties = parts.flatMap((part) => Object.entries(isObject(part.properties) ? part.properties : {}));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: parts.flatMap((part) => (Array.isArray(part.required) ? part.required : [])),
  };
}

/** Whether a type needs brackets before `[]`: it has alternatives or remarks of its own. */
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

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const literal = (value: unknown): string =>
  typeof value === 'string'
    ? `'${oneLine(value, 60).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : oneLine(JSON.stringify(value) ?? 'any', 60);

const key = (name: string): string =>
  name.length <= 80 && /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(oneLine(name, 80));
