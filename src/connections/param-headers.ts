/**
 * Builds the `Mcp-Param-*` headers of protocol 2026-07-28: a tool may ask that chosen arguments are copied into HTTP
 * headers.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';

const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

interface Declaration {
  readonly path: readonly string[];
  readonly header: string;
}

/** Returns why a schema's header annotations break the specification, or undefined. Such a tool must not be offered. */
export function headerFault(schema: JsonSchema): string | undefined {
  const found = declarations(schema);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the headers for one call; undefined when the tool asks for none. */
export function paramHeaders(
  schema: JsonSchema | undefined,
  args: Readonly<Record<string, unknown>>,
): Record<string, string> | undefined {
  const found = schema ? declarations(schema) : [];
  if (typeof found === 'string' || found.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const { path, header } of found) {
    const value = path.reduce<unknown>(
      (node, key) =>
        typeof node === 'object' && node !== null && Object.hasOwn(node, key)
          ? (node as Record<string, unknown>)[key]
          : undefined,
      args,
    );
    if (
      typeof value === 'string' ||
      typeof value === 'boolean' ||
      (typeof value === 'number' && Number.isSafeInteger(value))
    ) {
      headers[`Mcp-Param-${header}`] = headerValue(String(value));
    }
  }
  return headers;
}

/**
 * Compares the headers of a request with its arguments, as a server that asks for such headers has to. Returns what is
 * wrong with them, or undefined.
 */
export function headerMismatch(
  schema: JsonSchema,
  args: Readonly<Record<string, unknown>>,
  headers: Headers,
): string | undefined {
  for (const [header, expected] of Object.entries(paramHeaders(schema, args) ?? {})) {
    const given = headers.get(header);
    if (given === null) return `the header ${header} is missing`;
    const [sent, wanted] = [decode(given), decode(expected)];
    if (sent === undefined) return `the header ${header} is not valid Base64`;
    if (sent !== wanted && !isSameNumber(sent, wanted)) return `the header ${header} differs from the argument`;
  }
  return undefined;
}

const NUMBER = /^-?\d+(\.\d+)?$/;

const isSameNumber = (one: string, other = ''): boolean =>
  NUMBER.test(one) && /^-?\d+$/.test(other) && Number(one) === Number(other);

function declarations(schema: JsonSchema): readonly Declaration[] | string {
  const found: Declaration[] = [];
  const names = new Set<string>();
  let nodes = 0;
  const visit = (node: unknown, path: readonly string[], reachable: boolean): string | undefined => {
    if (typeof node !== 'object' || node === null || path.length > LIMITS.schema.depth || ++nodes > LIMITS.schema.nodes)
      return undefined;
    const here = node as Record<string, unknown>;
    if (!Array.isArray(node) && Object.hasOwn(here, KEY) && isSchemaPosition(here)) {
      const header = here[KEY];
      if (!reachable || path.length === 0) return `${KEY} stands where no plain argument is`;
      if (typeof header !== 'string' || !TOKEN.test(header)) return `${KEY} is not a header name`;
      if (here.type !== 'string' && here.type !== 'integer' && here.type !== 'boolean')
        return `${KEY} is on a ${typeof here.type === 'string' ? here.type.slice(0, 40) : 'value without one simple type'}`;
      if (names.has(header.toLowerCase())) return `${KEY} "${header}" is used twice`;
      names.add(header.toLowerCase());
      found.push({ path, header });
    }
    for (const [key, child] of Object.entries(here)) {
      if (key === KEY || key === 'default' || key === 'const' || key === 'enum' || key === 'examples') continue;
      if (key === 'properties' && typeof child === 'object' && child !== null) {
        for (const [name, property] of Object.entries(child)) {
          const fault = visit(property, [...path, name], reachable);
          if (fault) return fault;
        }
      } else {
        const fault = visit(child, [...path, key], false);
        if (fault) return fault;
      }
    }
    return undefined;
  };
  return visit(schema, [], true) ?? found;
}

// `properties: { "x-mcp-header": {…} }` is a parameter of that name; `visit` never reaches it as a schema.
const isSchemaPosition = (node: Record<string, unknown>): boolean =>
  typeof node[KEY] !== 'object' || node.type !== undefined;

/** Writes a text as the value of a header: as it is, or marked as Base64. */
export function headerValue(value: string): string {
  const plain =
    /^[\t\x20-\x7e]+$/.test(value) &&
    value === value.trim() &&
    !(value.startsWith('=?base64?') && value.endsWith('?='));
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns the text of a header; undefined if it is marked as Base64 of UTF-8 and is not. */
function decode(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (encoded === undefined) return value;
  if (!BASE64.test(encoded)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}
