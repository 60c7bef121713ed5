/**
 * Copies any value for a log: masks values of secret-sounding keys, redacts every text, and limits depth and size.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { createRedactor, REDACTED, type Redact } from './redactor.ts';
import { isSecretKey } from './secret-names.ts';

const NOTHING_KNOWN = createRedactor([]);

/** Returns a redacted copy. Never throws for JSON data; values too deep or too many become `…`. */
export function redactObject(value: unknown, redact: Redact = NOTHING_KNOWN): unknown {
  let nodes = 0;
  const clean = (text: string): string => {
    const short = redact.cut(text, LIMITS.text.message);
    return text.length > LIMITS.text.message ? `${short}…` : short;
  };
  const copy = (node: unknown, depth: number): unknown => {
    nodes += 1;
    if (nodes > LIMITS.secrets.auditNodes || depth > LIMITS.secrets.auditDepth) return '…';
    if (typeof node === 'string') return clean(node);
    if (typeof node === 'bigint') return `${node}`;
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.slice(0, LIMITS.secrets.auditNodes).map((item) => copy(item, depth + 1));
    // No prototype: a key called `__proto__` is an ordinary key.
    const out: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(node).slice(0, LIMITS.secrets.auditNodes)) {
      const hidden = isSecretKey(key);
      out[clean(key)] = hidden ? REDACTED : copy((node as Record<string, unknown>)[key], depth + 1);
    }
    return out;
  };
  return copy(value, 0);
}
