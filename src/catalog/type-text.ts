/**
 * JSON Schema as short TypeScript: `{name: string, size?: number}[]`, `'open'|'closed'`, with defaults and limits kept.
 * @module
 */
import type { JsonSchema } from '../types.ts';
import { oneLine } from './plain-text.ts';

export interface TypeTextOptions {
  /** Levels of nested objects that are written out. */
  readonly depth?: number;
  /** Longest text; deeper structure is left out until it fits. */
  readonly maxChars?: number;
  /** Leave out defaults, limits and formats. */
  readonly bare?: boolean;
}

const MAX_ENUM = 20;
const MAX_PROPERTIES = 30;
const MAX_UNION = 8;

/** The type of a schema. Never throws, always ends, whatever the schema. */
export function typeText(schema: unknown, root: JsonSchema, options: TypeTextOptions = {}): string {
  const { depth = 4, maxChars = 400, bare = false } = options;
  for (let levels = depth; levels > 0; levels--) {
    const text = new Writer(root, bare).write(schema, levels);
    if (text.length <= maxChars) return text;
  }
  return new Writer(root, true).write(schema, 0);
}

class Writer {
  readonly #root: JsonSchema;
  readonly #bare: boolean;
  #budget = 2000;

  constructor(root: JsonSchema, bare: boolean) {
    this.#root = root;
    this.#bare = bare;
  }

  write(schema: unknown, levels: number): string {
    if (schema === true || typeof schema !== 'object' || schema === null || --this.#budget < 0) return 'any';
    const node = resolve(schema as JsonSchema, this.#root);
    const text = this.#type(node, levels);
    return this.#bare ? text : text + limits(node);
  }

  #type(node: JsonSchema, levels: number): string {
    if ('const' in node) return literal(node.const);
    if (Array.isArray(node.enum))
      return this.#union(node.enum.slice(0, MAX_ENUM).map(literal), node.enum.length > MAX_ENUM);
    const branches = node.anyOf ?? node.oneOf;
    if (Array.isArray(branches)) {
      return this.#union(
        branches.slice(0, MAX_UNION).map((branch) => this.write(branch, levels)),
        branches.length > MAX_UNION,
      );
    }
    if (Array.isArray(node.allOf)) return this.#object(mergeAll(node, this.#root), levels);
    const { type } = node;
    if (Array.isArray(type))
      return this.#union(
        type.slice(0, MAX_UNION).map((one) => this.#type({ ...node, type: one }, levels)),
        false,
      );
    if (type === 'array' || (type === undefined && node.items !== undefined)) return this.#array(node, levels);
    if (type === 'object' || (type === undefined && node.properties !== undefined)) return this.#object(node, levels);
    return typeof type === 'string' ? oneLine(type, 20) : 'any';
  }

  #union(parts: readonly string[], more: boolean): string {
    const unique = [...new Set(parts)];
    return unique.includes('any') ? 'any' : [...unique, ...(more ? ['…'] : [])].join('|') || 'any';
  }

  #array(node: JsonSchema, levels: number): string {
    if (Array.isArray(node.prefixItems))
      return `[${node.prefixItems
        .slice(0, MAX_UNION)
        .map((item) => this.write(item, levels))
        .join(', ')}]`;
    if (levels <= 0) return 'any[]';
    const item = this.write(node.items ?? true, levels);
    return /[|&( ]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
  }

  #object(node: JsonSchema, levels: number): string {
    const properties = (typeof node.properties === 'object' && node.properties) as Record<string, unknown> | false;
    const entries = properties ? Object.entries(properties) : [];
    if (entries.length === 0) {
      const { additionalProperties: values } = node;
      return typeof values === 'object' && values !== null && levels > 0
        ? `Record<string, ${this.write(values, levels - 1)}>`
        : 'object';
    }
    if (levels <= 0) return 'object';
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

/** Follows local references, a bounded number of times. Anything else stays as it is. */
export function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let node = schema;
  for (let hops = 0; hops < 8 && typeof node.$ref === 'string'; hops++) {
    const { $ref: reference, ...beside } = node;
    const target = lookUp(reference as string, root);
    if (!target) return beside;
    node = { ...target, ...beside };
  }
  return node;
}

function lookUp(reference: string, root: JsonSchema): JsonSchema | undefined {
  if (!reference.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    if (typeof node !== 'object' || node === null) return undefined;
    const name = part.replace(/~1/g, '/').replace(/~0/g, '~');
    node = Object.hasOwn(node, name) ? (node as Record<string, unknown>)[name] : undefined;
  }
  return typeof node === 'object' && node !== null ? (node as JsonSchema) : undefined;
}

function mergeAll(node: JsonSchema, root: JsonSchema): JsonSchema {
  const parts = [node, ...(node.allOf as unknown[]).slice(0, 8)].map((part) =>
    typeof part === 'object' && part !== null ? resolve(part as JsonSchema, root) : {},
  );
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map((part) => part.properties ?? {})),
    required: parts.flatMap((part) => (Array.isArray(part.required) ? part.required : [])),
  };
}

const literal = (value: unknown): string =>
  typeof value === 'string'
    ? `'${oneLine(value, 60).replaceAll("'", "\\'")}'`
    : oneLine(JSON.stringify(value) ?? 'any', 60);

const key = (name: string): string =>
  /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : JSON.stringify(oneLine(name, 80));

/** ` (1..100)`, ` (date-time)`, ` = 30`: what an agent has to respect. */
function limits(node: JsonSchema): string {
  const notes: string[] = [];
  const low =
    node.minimum ??
    (node.exclusiveMinimum !== undefined && typeof node.exclusiveMinimum === 'number'
      ? `>${node.exclusiveMinimum}`
      : undefined);
  const high =
    node.maximum ??
    (node.exclusiveMaximum !== undefined && typeof node.exclusiveMaximum === 'number'
      ? `<${node.exclusiveMaximum}`
      : undefined);
  const huge = (value: unknown) => typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;
  const range = (from: unknown, to: unknown, unit: string) => {
    if (huge(from)) from = undefined;
    if (huge(to)) to = undefined;
    if (from !== undefined || to !== undefined) notes.push(`${from ?? ''}..${to ?? ''}${unit}`);
  };
  range(low, high, '');
  range(node.minLength === 0 ? undefined : node.minLength, node.maxLength, ' chars');
  range(node.minItems === 0 ? undefined : node.minItems, node.maxItems, ' items');
  if (typeof node.format === 'string') notes.push(oneLine(node.format, 30));
  if (typeof node.pattern === 'string') notes.push(`/${oneLine(node.pattern, 60)}/`);
  const text = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return node.default === undefined || node.default === null || node.default === ''
    ? text
    : `${text} = ${oneLine(JSON.stringify(node.default) ?? '', 60)}`;
}
