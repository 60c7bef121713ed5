/**
 * Checks the fields of a tool that the protocol types. A client refuses a whole list for one field of the wrong type, so
 * such a field is left out, and a tool whose input schema is unusable as well.
 * @module
 */

import { isObject } from '../json/plain-object.ts';

type Fields = Readonly<Record<string, unknown>>;
type Kind = (value: unknown) => boolean;

const isText: Kind = (value) => typeof value === 'string';
const isHint: Kind = (value) => typeof value === 'boolean';
const isTexts: Kind = (value) => Array.isArray(value) && value.every(isText);

const HINTS: ReadonlyMap<string, Kind> = new Map([
  ['title', isText],
  ['readOnlyHint', isHint],
  ['destructiveHint', isHint],
  ['idempotentHint', isHint],
  ['openWorldHint', isHint],
]);

const ICON: ReadonlyMap<string, Kind> = new Map([
  ['mimeType', isText],
  ['sizes', isTexts],
  ['theme', (value) => value === 'light' || value === 'dark'],
]);

const EXECUTION: ReadonlyMap<string, Kind> = new Map([
  ['taskSupport', (value) => value === 'required' || value === 'optional' || value === 'forbidden'],
]);

const OUTPUT: ReadonlyMap<string, Kind> = new Map([
  ['$schema', isText],
  ['type', (value) => isText(value) || isTexts(value)],
  ['properties', isObject],
  ['required', isTexts],
]);

/** Returns what is usable of an optional field; undefined if nothing is. */
const OPTIONAL: ReadonlyMap<string, (value: unknown) => unknown> = new Map<string, (value: unknown) => unknown>([
  ['title', (value) => (isText(value) ? value : undefined)],
  ['description', (value) => (isText(value) ? value : undefined)],
  ['annotations', (value) => fitting(value, HINTS)],
  ['outputSchema', (value) => (fitting(value, OUTPUT) === value ? value : undefined)],
  ['icons', (value) => usableIcons(value)],
  ['execution', (value) => fitting(value, EXECUTION)],
  ['_meta', (value) => (isObject(value) ? value : undefined)],
]);

/** Returns a tool without optional fields of a wrong type; the same object if there are none. */
export function withoutIllTyped<T extends Fields>(tool: T): T {
  let usable: Record<string, unknown> = tool;
  for (const [name, read] of OPTIONAL) {
    const value = tool[name];
    const usableValue = value === undefined ? undefined : read(value);
    if (usableValue === value) continue;
    if (usable === tool) usable = { ...tool };
    if (usableValue === undefined) delete usable[name];
    else usable[name] = usableValue;
  }
  return usable as T;
}

/** Returns why clients would refuse an input schema; undefined if they accept what `completeInput` makes of it. */
export function inputFault({ type, properties }: Fields): string | undefined {
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object')))
    return 'inputSchema.type is not "object"';
  // Some libraries write null for nothing.
  if (isGiven(properties) && !isObject(properties)) return 'inputSchema.properties is not an object';
  return undefined;
}

/**
 * Writes an input schema in a way that all clients accept; returns the same object if it is written so. Properties
 * without a schema and an ill-typed `required` are left out: real servers write `required` among the properties.
 */
export function completeInput(schema: Fields): Fields {
  const { properties, required, ...rest } = schema;
  const written = isObject(properties) && Object.values(properties).every(isObject);
  const isComplete = schema.type === 'object' && (written || properties === undefined);
  if (isComplete && (required === undefined || isTexts(required))) return schema;
  return {
    ...rest,
    type: 'object',
    ...(isObject(properties) && { properties: written ? properties : asObjects(properties) }),
    ...(isTexts(required) && { required }),
  };
}

/** Clients of the first SDK refuse the schemas `true` and `false`. */
const asObjects = (properties: Fields): Fields =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, schema]) => isSchema(schema))
      .map(([name, schema]) => [name, isObject(schema) ? schema : schema ? {} : { not: {} }]),
  );

const isGiven: Kind = (value) => value !== undefined && value !== null;
const isSchema: Kind = (value) => isObject(value) || typeof value === 'boolean';

function usableIcons(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  const icons = value.filter((icon) => isObject(icon) && isText(icon.src) && fitting(icon, ICON) === icon);
  if (icons.length === value.length) return value;
  return icons.length > 0 ? icons : undefined;
}

/** Returns an object without members of a wrong type; the same object if there are none. */
function fitting(value: unknown, kinds: ReadonlyMap<string, Kind>): unknown {
  if (!isObject(value)) return undefined;
  let usable = value;
  for (const [name, fits] of kinds) {
    if (value[name] === undefined || fits(value[name])) continue;
    if (usable === value) usable = { ...value };
    delete usable[name];
  }
  return usable;
}
