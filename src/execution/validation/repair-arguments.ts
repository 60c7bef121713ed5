/**
 * Repairs the two most common mistakes of agents: arguments sent as a JSON string, and arguments wrapped once too
 * often. Converts nothing else.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { parseWritten, writtenFault } from '../../json/json-nesting.ts';
import { isObject } from '../../json/plain-object.ts';

type Arguments = Readonly<Record<string, unknown>>;

const WRAPPERS: ReadonlySet<string> = new Set(['arguments', 'args', 'params', 'parameters', 'input']);

/** Returns the arguments as an object; undefined when they are not one. Nothing at all means no arguments. */
export function repairArguments(raw: unknown): Arguments | undefined {
  if (raw === undefined || raw === null || raw === '') return {};
  if (isObject(raw)) return raw;
  return typeof raw === 'string' ? parseRecord(raw) : undefined;
}

/** Says why arguments cannot be read, in words that continue "they …". */
export function argumentsFault(raw: unknown): string {
  const fault = typeof raw === 'string' && raw.length <= LIMITS.wire.body ? writtenFault(raw) : undefined;
  return fault === undefined
    ? 'must be a JSON object, for example {"name": "value"}'
    : `cannot be read from a string that ${fault}: send fewer with each call`;
}

/** Unwraps `{arguments: {…}}` and the like, if the schema has no such property but has others. */
export function liftArguments(args: Arguments, schema: Readonly<Record<string, unknown>>): Arguments {
  const keys = Object.keys(args);
  const [wrapper] = keys;
  if (keys.length !== 1 || wrapper === undefined || !WRAPPERS.has(wrapper)) return args;
  const properties = Object.hasOwn(schema, 'properties') ? schema.properties : undefined;
  if (!isObject(properties) || Object.hasOwn(properties, wrapper)) return args;
  const closed = schema.additionalProperties === false;
  if (Object.keys(properties).length === 0 && !closed) return args;
  const inner = args[wrapper];
  if (isObject(inner)) return inner;
  return (typeof inner === 'string' ? parseRecord(inner) : undefined) ?? args;
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
