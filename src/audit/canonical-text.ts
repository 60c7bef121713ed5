/**
 * Any value in, a text out that is the same for equal data, whatever the order of its keys, and another one for any other
 * data; cut off at a length, with the size of what was there. It looks like JSON with sorted keys, but strings stand as
 * they are behind their length, because escaping is what takes JSON most of its time. No value, however large, deep or
 * cyclic, costs more than a bounded walk.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** The first 64 Ki characters or so, and the length of the whole as far as the walk went. */
export interface CanonicalText {
  readonly text: string;
  readonly size: number;
}

/** Writes a value canonically. Getters and `toJSON` may throw through. */
export function toCanonicalText(value: unknown): CanonicalText {
  const parts: string[] = [];
  let kept = 0;
  let size = 0;
  let nodes = 0;

  const put = (text: string): void => {
    if (kept < LIMITS.text.raw) {
      parts.push(text);
      kept += text.length;
    }
    size += text.length;
  };
  const putString = (text: string): void => {
    const room = Math.max(0, LIMITS.text.raw - kept);
    const shown = text.length > room ? text.slice(0, room) : text;
    // Half a surrogate pair has no bytes of its own, so that only its escape tells it from another.
    put(shown.isWellFormed() ? `${text.length}"${shown}` : `${text.length}'${JSON.stringify(shown)}`);
    size += Math.max(0, text.length - room);
  };
  const walk = (node: unknown, depth: number): void => {
    nodes += 1;
    if (nodes > LIMITS.json.hashedNodes || depth > LIMITS.json.depth) put('…');
    else if (typeof node === 'string') putString(node);
    else if (typeof node !== 'object' || node === null) put(String(node));
    else if ('toJSON' in node && typeof node.toJSON === 'function') walk(node.toJSON(), depth + 1);
    else if (Array.isArray(node)) {
      put('[');
      for (const item of node) {
        if (nodes > LIMITS.json.hashedNodes) break;
        walk(item, depth + 1);
        put(',');
      }
      put(`]${node.length}`);
    } else walkObject(node as Record<string, unknown>, depth);
  };
  const walkObject = (node: Record<string, unknown>, depth: number): void => {
    const keys = Object.keys(node);
    if (keys.length <= LIMITS.json.sortedKeys) keys.sort();
    put('{');
    for (const key of keys) {
      if (nodes > LIMITS.json.hashedNodes) break;
      putString(key);
      put(':');
      walk(node[key], depth + 1);
      put(',');
    }
    put(`}${keys.length}`);
  };
  walk(value, 0);
  return { text: parts.join(''), size };
}
