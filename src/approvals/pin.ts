/**
 * Pins a tool definition: SHA-256 over its canonical JSON (RFC 8785: sorted keys, no white space). The order of keys does
 * not matter; any other difference does. Numbers are compared as doubles, because lists on disk hold doubles.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';
import type { ToolDefinition } from '../core/types.ts';

const pins = new WeakMap<ToolDefinition, string | false>();

/**
 * Returns the pin of a definition, 64 hexadecimal digits. Every member counts, `_meta` too: `--expose` shows it. Undefined
 * for a definition that is too large, too deep or no JSON: it cannot be approved. Computed once per object.
 */
export function pinOf(definition: ToolDefinition): string | undefined {
  let pin = pins.get(definition);
  if (pin === undefined) {
    const text = canonicalJson(definition);
    pin = text === undefined ? false : createHash('sha256').update(text).digest('hex');
    pins.set(definition, pin);
  }
  return pin === false ? undefined : pin;
}

/** Writes canonical JSON. Undefined for a value that is too large, too deep, cyclic or no JSON. */
export function canonicalJson(value: unknown): string | undefined {
  const parts: string[] = [];
  let room = LIMITS.approvals.definition;
  let values = 0;

  const put = (text: string): boolean => {
    parts.push(text);
    room -= text.length;
    return room >= 0;
  };
  const write = (node: unknown, depth: number): boolean => {
    values += 1;
    if (values > LIMITS.approvals.values || depth > LIMITS.json.depth) return false;
    if (typeof node === 'string') return node.length <= room && put(JSON.stringify(node));
    if (node === null || typeof node === 'boolean' || (typeof node === 'number' && Number.isFinite(node)))
      return put(JSON.stringify(node));
    if (typeof node !== 'object') return false;
    return Array.isArray(node) ? writeArray(node, depth) : writeObject(node as Record<string, unknown>, depth);
  };
  const writeArray = (items: readonly unknown[], depth: number): boolean => {
    put('[');
    for (const [index, item] of items.entries()) {
      if (index > 0) put(',');
      if (!write(item, depth + 1)) return false;
    }
    return put(']');
  };
  const writeObject = (node: Readonly<Record<string, unknown>>, depth: number): boolean => {
    // JSON has no undefined: such a member is absent.
    const keys = Object.keys(node).filter((key) => node[key] !== undefined);
    if (keys.length > LIMITS.approvals.values) return false;
    put('{');
    for (const [index, key] of keys.sort().entries()) {
      if (key.length > room || !put(`${index > 0 ? ',' : ''}${JSON.stringify(key)}:`)) return false;
      if (!write(node[key], depth + 1)) return false;
    }
    return put('}');
  };
  return write(value, 0) ? parts.join('') : undefined;
}
