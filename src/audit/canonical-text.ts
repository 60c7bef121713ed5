/**
 * Encodes a value as text for hashing: equal data gives the same text whatever the order of keys, and different data
 * gives different text. The text is cut at a limit; the full size is returned too. It looks like JSON with sorted keys,
 * but strings are written raw after their length, because escaping is most of the cost of JSON. The walk is bounded for
 * any value, however large, deep or cyclic.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** About the first 64 Ki characters, and the full length as far as the walk went. */
interface CanonicalText {
  readonly text: string;
  readonly size: number;
}

/** Encodes a value. Errors of getters and `toJSON` are thrown. */
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
    // Half a surrogate pair has no bytes of its own; only its escape distinguishes it.
    put(shown.isWellFormed() ? `${text.length}"${shown}` : `${text.length}'${JSON.stringify(shown)}`);
    size += Math.max(0, text.length - room);
  };
  const walk = (node: unknown, depth: number): void => {
    nodes += 1;
    if (nodes > LIMITS.json.hashedNodes || depth > LIMITS.json.depth) put('…');
    else if (typeof node === 'string') putString(node);
    else if (typeof node !== 'object' || node === null) put(String(node));
    else if (Array.isArray(node)) {
      put('[');
      for (const item of node) {
        if (nodes > LIMITS.json.hashedNodes) break;
        walk(item, depth + 1);
        put(',');
      }
      put(`]${node.length}`);
    } else {
      // Like JSON, this asks once: what `toJSON` returns is written as it is, even if it is the same object.
      const shown: unknown = 'toJSON' in node && typeof node.toJSON === 'function' ? node.toJSON() : node;
      if (shown !== null && typeof shown === 'object' && !Array.isArray(shown))
        walkObject(shown as Record<string, unknown>, depth);
      else walk(shown, depth + 1);
    }
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
