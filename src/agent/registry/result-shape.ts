/**
 * Tells whether a value is the result of a `tools/call`. A handler's own data may have a field named `content`, so a
 * result must have only the fields of results, each of the right type.
 * @module
 */

import type { CallToolResult } from '../../core/types.ts';
import { isObject } from '../../json/plain-object.ts';

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): boolean => typeof value === 'string';

const isBlock = (value: unknown): boolean =>
  isObject(value) && isText(value.type) && (BLOCKS.get(value.type as string)?.(value) ?? true);

/** Required fields of known block types; clients refuse the whole result without them. */
const BLOCKS: ReadonlyMap<string, (block: Fields) => boolean> = new Map<string, (block: Fields) => boolean>([
  ['text', ({ text }) => isText(text)],
  ['image', ({ data, mimeType }) => isText(data) && isText(mimeType)],
  ['audio', ({ data, mimeType }) => isText(data) && isText(mimeType)],
  ['resource', ({ resource }) => isObject(resource) && isText(resource.uri)],
  ['resource_link', ({ uri, name }) => isText(uri) && isText(name)],
]);

type Kind = (value: unknown) => boolean;
const optional =
  (kind: Kind): Kind =>
  (value) =>
    value === undefined || kind(value);

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['content', optional((value) => Array.isArray(value) && value.every(isBlock))],
  ['structuredContent', () => true],
  ['isError', optional((value) => typeof value === 'boolean')],
  ['_meta', optional(isObject)],
  ['resultType', optional(isText)],
  ['inputRequests', optional(isObject)],
  ['requestState', optional(isText)],
]);

export function isResult(value: unknown): value is CallToolResult {
  if (!isObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => KINDS.get(key)?.(value[key]) === true);
}
