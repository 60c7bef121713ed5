/**
 * Formats the limits of a schema node that an agent must respect besides the type: ` (1..100)`, ` (>=1 chars)`,
 * ` (date-time)`, ` = 30`.
 * @module
 */

import type { JsonSchema } from '../core/types.ts';
import { oneLine } from '../text/plain-text.ts';

export type SchemaLimits = (node: JsonSchema) => string;

/** Returns ranges, lengths, format, pattern and default of a node; empty if it has none. */
export const schemaLimits: SchemaLimits = (node) => {
  const notes: string[] = [];
  const range = (from: string, to: string, unit = '') => {
    if (from !== '' && to !== '') notes.push(`${from}..${to}${unit}`);
    else if (from !== '') notes.push(`${from.startsWith('>') ? '' : '>='}${from}${unit}`);
    else if (to !== '') notes.push(`${to.startsWith('<') ? '' : '<='}${to}${unit}`);
  };
  range(
    bound(node.minimum) || bound(node.exclusiveMinimum, '>'),
    bound(node.maximum) || bound(node.exclusiveMaximum, '<'),
  );
  range(node.minLength === 0 ? '' : bound(node.minLength), bound(node.maxLength), ' chars');
  if (typeof node.multipleOf === 'number') notes.push(`multiple of ${node.multipleOf}`);
  range(node.minItems === 0 ? '' : bound(node.minItems), bound(node.maxItems), ' items');
  if (typeof node.format === 'string') notes.push(oneLine(node.format, 30));
  // Generators write out the pattern of a format they name, in a hundred characters.
  else if (typeof node.pattern === 'string') notes.push(`/${oneLine(node.pattern, 60)}/`);
  const text = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return node.default === undefined || node.default === null || node.default === ''
    ? text
    : `${text} = ${oneLine(JSON.stringify(node.default), 60)}`;
};

/** Formats a bound; the bounds of number types themselves are not worth showing. */
const bound = (value: unknown, sign = ''): string =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? `${sign}${value}` : '';
