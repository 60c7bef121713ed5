/**
 * Implements `read_schema`, which shows the parts of a tool's definition that `get_tool_details` had no room for: as the
 * server wrote them, in pages, with invisible characters made visible.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { OWN_SERVER, READ_SCHEMA_NAME } from '../core/own-server.ts';
import { fail, ok, type ToolResult } from '../core/result.ts';
import type { CallToolResult, JsonSchema, ToolDefinition, ToolMetadata } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { parametersOf } from '../schema/schema-parameters.ts';
import { nearestNames } from '../text/nearest-names.ts';
import { plainText, shorten, visible, visibly } from '../text/plain-text.ts';
import { weighedPages } from '../text/text-weight.ts';
import { outline } from './schema-outline.ts';
import { findPart, referredPart, type SchemaPart } from './schema-part.ts';

const LEAST_FOR_SCHEMA = 1600;

export const READ_SCHEMA: ToolDefinition = {
  name: READ_SCHEMA_NAME,
  description:
    'Reads the description and input schema of a tool, or one part of it, where get_tool_details was cut. Parts that do not fit are shown as {"$ref": "#/…"}; pass that as path to read them.',
  inputSchema: {
    type: 'object',
    properties: {
      server: { type: 'string' },
      tool: { type: 'string' },
      path: { type: 'string', description: 'A parameter (filter, filter.owner) or a $ref (#/properties/filter)' },
      page: { type: 'integer', minimum: 1, description: 'Default 1' },
    },
    // The server may be part of the tool's name, as in `server:tool`.
    required: ['tool'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

/** Reads a page of a tool's definition. */
export function readSchema(tool: ToolMetadata, path: string, page: number): ToolResult<CallToolResult> {
  const where = { server: OWN_SERVER, tool: READ_SCHEMA_NAME, outcome: 'not_sent' } as const;
  // `execute_tool` accepts this form, so an agent can copy names and values.
  const schema = visibly(tool.inputSchema ?? {}) as JsonSchema;
  const part = settled(schema, findPart(schema, visible(path)));
  if (!part) {
    const suggestions = nearestNames(
      path,
      parametersOf(schema).map(({ name }) => name),
    );
    const message = `${tool.server}:${tool.name} has no part "${shorten(path, 100)}". Without a path, all parameters are shown.`;
    return fail('TOOL_VALIDATION_ERROR', message, { ...where, suggestions });
  }
  const isRoot = part.pointer === '';
  const about = isRoot ? aboutTool(tool) : {};
  const room = Math.max(LEAST_FOR_SCHEMA, LIMITS.answer.page - JSON.stringify(about).length);
  const { value, isCut } = outline(part, room, isRoot ? undefined : schema);
  const text = isRoot ? JSON.stringify({ ...about, inputSchema: value }) : asText(value);
  const pages = weighedPages(text, LIMITS.answer.page);
  const shown = pages[page - 1];
  if (shown === undefined) {
    const message = `This part has ${pages.length} ${pages.length === 1 ? 'page' : 'pages'}, counted from 1.`;
    return fail('TOOL_VALIDATION_ERROR', message, { ...where, schema: { minimum: 1, maximum: pages.length } });
  }
  const notes = [
    page < pages.length && `Page ${page} of ${pages.length}; go on with page ${page + 1}.`,
    page === pages.length && page > 1 && `The last of ${pages.length} pages.`,
    (isCut || shown.includes('"$ref":"#/')) &&
      'To read a "$ref", or a text that ends in …, call this again with the $ref or the parameter as path.',
  ].filter((note) => note !== false);
  const mark = notes.length > 0 ? [{ type: 'text', text: `[${notes.join(' ')}]` }] : [];
  return ok({ content: [{ type: 'text', text: shown }, ...mark] });
}

/** Follows a part that only refers to another one. */
function settled(schema: JsonSchema, found: SchemaPart | undefined): SchemaPart | undefined {
  let part = found;
  for (let hops = 0; part && hops < LIMITS.schema.hops && isObject(part.value); hops++) {
    part = referredPart(schema, part.value) ?? part;
  }
  return part;
}

/** Texts are shown as they are; other values as JSON. */
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function aboutTool({ description, title, examples = [] }: ToolMetadata): object {
  const text = plainText(description ?? title ?? '');
  return { ...(text && { description: text }), ...(examples.length > 0 && { examples: visibly(examples) }) };
}
