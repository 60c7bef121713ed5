/**
 * Describes a tool's parameters: in one compact line for search hits, and one by one for `get_tool_details`.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema, ToolParameter } from '../core/types.ts';
import { parametersOf } from '../schema/schema-parameters.ts';
import { Effort, typeText } from '../schema/type-text.ts';
import { oneLine, visible } from '../text/plain-text.ts';

/** `repo, title, body?, labels?: string[]`. Strings have no type; required parameters come first. */
export function signature(inputSchema: JsonSchema | undefined, maxChars: number = LIMITS.answer.signature): string {
  const all = parametersOf(inputSchema).slice(0, LIMITS.schema.parameters);
  const effort = new Effort(LIMITS.schema.expanded);
  const options = { depth: 1, maxChars: LIMITS.answer.signatureType, bare: true, effort };
  let text = '';
  for (const [index, { name, schema, required }] of all.entries()) {
    const type = typeText(schema, inputSchema ?? {}, options);
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
  const effort = new Effort(LIMITS.schema.expanded);
  return parametersOf(inputSchema)
    .slice(0, LIMITS.schema.parameters)
    .map(({ name, schema, required }) => ({
      name,
      type: typeText(schema, inputSchema ?? {}, { effort }),
      description: oneLine(typeof schema.description === 'string' ? schema.description : '', LIMITS.answer.parameter),
      required,
    }));
}
