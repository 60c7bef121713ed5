/**
 * Checks a program's options. Throws for a misspelt name or a wrong type, which would otherwise be noticed late or
 * never.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { isObject } from '../../json/plain-object.ts';
import { unknownKey } from '../../text/unknown-key.ts';

const KINDS = {
  text: ['a string', (value: unknown) => typeof value === 'string'],
  number: ['a number', (value: unknown) => typeof value === 'number'],
  flag: ['true or false', (value: unknown) => typeof value === 'boolean'],
  function: ['a function', (value: unknown) => typeof value === 'function'],
  object: ['an object', isObject],
  any: ['anything', () => true],
} as const;

/** The type of an option; `any` if it is checked elsewhere. */
export type OptionKind = keyof typeof KINDS;

/** Writes the message for an unknown option. */
type Lacks = (name: string) => string;

/** Throws `ValidationError` unless every option exists and is undefined or of its type. */
export function checkOptions(given: object, kinds: Readonly<Record<string, OptionKind>>, lacks?: Lacks): void {
  checkNames(given, Object.keys(kinds), '', lacks);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const [wanted, fits] = KINDS[kinds[name] as OptionKind];
    if (!fits(value)) throw new ValidationError(`${name} must be ${wanted}, not ${shown(value)}`);
  }
}

/** Throws `ValidationError` for an unknown option, with a suggestion. */
export function checkNames(
  given: object,
  known: Iterable<string>,
  where = '',
  lacks: Lacks = (name) => `There is no option ${where}${name}`,
): void {
  if (!isObject(given)) {
    throw new ValidationError(`${where === '' ? 'The options' : where.slice(0, -1)} must be an object`);
  }
  const names = [...known];
  const unknown = unknownKey(given, names);
  if (unknown === undefined) return;
  const { key, meant } = unknown;
  const hint = meant === undefined ? `use one of: ${names.join(', ')}` : `did you mean ${where}${meant}?`;
  throw new ValidationError(`${lacks(key)}; ${hint}`);
}

/** Formats a value for messages. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isUnreadable(value)) return 'an object that cannot be read';
  return Array.isArray(value) ? 'a list' : 'an object';
};

/** Tells whether a value is a revoked proxy, which throws whatever it is asked. */
export function isUnreadable(value: unknown): boolean {
  try {
    Array.isArray(value);
    return false;
  } catch {
    return true;
  }
}

/** Removes keys that are null, which some programs write for undefined. Returns other values than objects unchanged. */
export const withoutNulls = <T>(given: T): T =>
  isObject(given) ? (Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as T) : given;
