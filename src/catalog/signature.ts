/**
 * A tool's parameters: as one compact line for search hits, and one by one for `get_tool_details`.
 * @module
 */
import type { JsonSchema, ToolParameter } from '../types.ts';
import { oneLine } from './plain-text.ts';
import { resolve, typeText } from './type-text.ts';

const SIGNATURE_CHARS = 120;
const SIGNATURE_TYPE_CHARS = 30;
const PARAMETER_CHARS = 300;

/** `repo, title, body?, labels?: string[]`. Strings go without a type; what must be given comes first. */
export function signature(inputSchema: JsonSchema | undefined, maxChars: number = SIGNATURE_CHARS): string {
  const all = parametersOf(inputSchema);
  let text = '';
  for (const [index, { name, schema, required }] of all.entries()) {
    const type = typeText(schema, inputSchema ?? {}, { depth: 1, maxChars: SIGNATURE_TYPE_CHARS, bare: true });
    const part = `${oneLine(name, 40)}${required ? '' : '?'}${type === 'string' || type === 'any' ? '' : `: ${type}`}`;
    const next = text === '' ? part : `${text}, ${part}`;
    const rest = all.length - index;
    if (next.length > maxChars && index > 0) return `${text}, +${rest} more`;
    text = next;
  }
  return text;
}

/** Every parameter with its type, limits and description; the required ones first. */
export function describeParameters(inputSchema: JsonSchema | undefined): ToolParameter[] {
  return parametersOf(inputSchema).map(({ name, schema, required }) => ({
    name,
    type: typeText(schema, inputSchema ?? {}),
    description: oneLine(typeof schema.description === 'string' ? schema.description : '', PARAMETER_CHARS),
    required,
  }));
}

interface RawParameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function parametersOf(inputSchema: JsonSchema | undefined): RawParameter[] {
  const root = inputSchema ? resolve(inputSchema, inputSchema) : {};
  const properties = typeof root.properties === 'object' && root.properties !== null ? root.properties : {};
  const required = new Set(Array.isArray(root.required) ? root.required : []);
  const all = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: typeof schema === 'object' && schema !== null ? resolve(schema as JsonSchema, inputSchema ?? {}) : {},
    required: required.has(name),
  }));
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)];
}
