/**
 * Defines `read_resource` and `get_prompt`, which an agent calls under the gateway's own server name. Each becomes a
 * call to the server that has the resource or prompt, and takes the same steps as the call of a tool.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { CallToolResult, ContentBlock, ItemKind, ToolCall, ToolDefinition } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';

const READ_ONLY = { readOnlyHint: true, idempotentHint: true, openWorldHint: true } as const;
const SERVER = { type: 'string', description: 'The server that has it' };

/** The gateway's own tools for what is no tool. */
export const ITEM_TOOLS: readonly ToolDefinition[] = [
  {
    name: 'read_resource',
    description: 'Reads a resource of a server. search_tools and the results of tools name resources by their URI.',
    inputSchema: {
      type: 'object',
      properties: {
        server: SERVER,
        uri: { type: 'string', minLength: 1, maxLength: LIMITS.names.uri, description: 'With {variables} filled in' },
      },
      required: ['server', 'uri'],
      additionalProperties: false,
    },
    annotations: READ_ONLY,
  },
  {
    name: 'get_prompt',
    description: 'Gets a prompt of a server, filled in with its arguments.',
    inputSchema: {
      type: 'object',
      properties: {
        server: SERVER,
        name: { type: 'string', minLength: 1, maxLength: LIMITS.names.tool },
        arguments: { type: 'object', description: 'By name; each is a text' },
      },
      required: ['server', 'name'],
      additionalProperties: false,
    },
    annotations: READ_ONLY,
  },
];

/** Turns a checked call of one of these tools into the call of the server. */
export function toItemCall(call: ToolCall): ToolCall {
  const { server, uri, name, arguments: given = {} } = call.arguments;
  const kind: ItemKind = uri === undefined ? 'prompt' : 'resource';
  const id = String(uri ?? name);
  const args = Object.entries(Object(given) as object).map(([key, value]) => [key, asText(value)]);
  return {
    ...call,
    server: String(server),
    tool: `${kind}:${id}`,
    arguments: kind === 'prompt' ? Object.fromEntries(args) : {},
    item: { kind, id },
    definition: undefined,
  };
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The answer to `resources/read` or `prompts/get` as a tool's result. */
export function itemResult(kind: ItemKind, result: CallToolResult): CallToolResult {
  // A question of the server is passed on as it is.
  if (result.resultType === 'input_required') return result;
  const { contents, messages, description: _description, ...rest } = result;
  const content = kind === 'resource' ? contentsOf(contents) : messagesOf(messages);
  return { ...rest, content };
}

/** Blocks that models can read: one text as text, images and audio as such, everything else embedded. */
function contentsOf(contents: unknown): ContentBlock[] {
  const parts = (Array.isArray(contents) ? contents : []).filter(isObject);
  return parts.map((part): ContentBlock => {
    const { text, blob: data, mimeType } = part;
    if (typeof text === 'string' && parts.length === 1) return { type: 'text', text };
    const [type = ''] = typeof mimeType === 'string' ? mimeType.split('/') : [];
    return typeof data === 'string' && (type === 'image' || type === 'audio')
      ? { type, data, mimeType }
      : { type: 'resource', resource: part };
  });
}

/** The contents of the messages. A role is named where it changes; a prompt starts with the user's. */
function messagesOf(messages: unknown): ContentBlock[] {
  let before = 'user';
  return (Array.isArray(messages) ? messages : []).filter(isObject).flatMap(({ role, content }): ContentBlock[] => {
    const blocks = [content].flat().filter((block): block is ContentBlock => isObject(block));
    const isSame = role === before || typeof role !== 'string';
    if (!isSame) before = role;
    return isSame ? blocks : [{ type: 'text', text: `[${role}]` }, ...blocks];
  });
}
