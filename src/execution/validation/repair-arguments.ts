/**
 * Repairs the two most common mistakes of agents: arguments sent as a JSON string, and arguments wrapped once too
 * often. Changes nothing else, and never arguments that fit as they were sent.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { nestsTooDeep, parseWritten, writtenFault } from '../../json/json-nesting.ts';
import { isObject } from '../../json/plain-object.ts';

type Arguments = Readonly<Record<string, unknown>>;

const WRAPPERS: ReadonlySet<string> = new Set(['arguments', 'args', 'params', 'parameters', 'input']);

/** Returns the arguments as an object; undefined when they are not one. Nothing at all means no arguments. */
export function repairArguments(raw: unknown): Arguments | undefined {
  if (raw === undefined || raw === null || raw === '') return {};
  if (isObject(raw)) return raw;
  return typeof raw === 'string' ? parseRecord(raw) : undefined;
}

/** Says why arguments cannot be read. The text continues "Arguments of … ". */
export function argumentsFault(raw: unknown): string {
  const fault = typeof raw === 'string' && raw.length <= LIMITS.wire.body ? writtenFault(raw) : undefined;
  return fault === undefined
    ? 'must be a JSON object, for example {"name": "value"}'
    : `are a string that ${fault}: flatten them, or send fewer with each call`;
}

/**
 * Unwraps `{arguments: {…}}` and the like; undefined for other arguments. Use it only for arguments that do not fit as
 * they were sent: a tool may have a parameter of such a name.
 */
export function unwrapped(args: Arguments): Arguments | undefined {
  const [wrapper = '', ...others] = Object.keys(args);
  if (others.length > 0 || !WRAPPERS.has(wrapper)) return undefined;
  const held = args[wrapper];
  if (isObject(held)) return held;
  const read = typeof held === 'string' ? parseRecord(held) : undefined;
  return read === undefined || nestsTooDeep(read) ? undefined : read;
}

function parseRecord(text: string): Arguments | undefined {
  if (text.length > LIMITS.wire.body || !text.trimStart().startsWith('{')) return undefined;
  try {
    const value = parseWritten(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
