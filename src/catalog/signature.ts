/**
 * Describes a tool's parameters: in one compact line for search hits, and one by one for `get_tool_details`.
 * @module
 */

import type { JsonSchema, ToolParameter } from '../core/types.ts';
import { parametersOf } from '../schema/schema-parameters.ts';
import { Effort, typeText } from '../schema/type-text.ts';
import { oneLine, visible } from '../text/plain-text.ts';

const SIGNATURE_CHARS = 120;
const SIGNATURE_TYPE_CHARS = 30;
const PARAMETER_CHARS = 300;
/** A definition of 256 KiB can hold ten thousand parameters. No agent reads that many, and each costs time. */
const MAX_PARAMETERS = 256;
const MAX_NODES = 30_000;

/** `repo, title, body?, labels?: string[]`. Strings have no type; required parameters come first. */
export function signature(inputSchema: JsonSchema | undefined, maxChars: number = SIGNATURE_CHARS): string {
  const all = parametersOf(inputSchema).slice(0, MAX_PARAMETERS);
  let text = '';
  for (const [index, { name, schema, required }] of all.entries()) {
    const type = typeText(schema, inputSchema ?? {}, { depth: 1, maxChars: SIGNATURE_TYPE_CHARS, bare: true });
    const part = `${oneLine(visible(name), 40)}${required ? '' : '?'}${type === 'string' || type === 'any' ? '' : `: ${type}`}`;
    const next = text === '' ? part : `${text}, ${part}`;
    const rest = all.length - index;
    if (next.length > maxChars && index > 0) return `${text}, +${rest} more`;
    text = next;
  }
  return text;
}

/** The parameters with types, limits and descriptions; required ones first. */
export function describeParameters(inputSchema: JsonSchema | undefined): ToolParameter[] {
  const effort = new Effort(MAX_NODES);
  return parametersOf(inputSchema)
    .slice(0, MAX_PARAMETERS)
    .map(({ name, schema, required }) => ({
      name,
      type: typeText(schema, inputSchema ?? {}, { effort }),
      description: oneLine(typeof schema.description === 'string' ? schema.description : '', PARAMETER_CHARS),
      required,
    }));
}
