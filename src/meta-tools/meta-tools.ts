/**
 * Defines the five tools an agent sees. Their text is part of the contract: every agent pays for it in every message.
 * The tools of the reserved server are elsewhere: `catalog/read-schema-tool.ts` and `execution/result-pages.ts`.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { ALWAYS_LOAD, META_TOOL_NAMES, OWN_SERVER, READ_SCHEMA_NAME } from '../core/own-server.ts';
import type { ToolDefinition } from '../core/types.ts';
import { CUT } from '../schema/type-text.ts';
import { counted } from '../text/counted.ts';
import { estimateTokens } from './estimate-tokens.ts';

export { META_TOOL_NAMES } from '../core/own-server.ts';

export type MetaToolName = (typeof META_TOOL_NAMES)[number];

const SERVER = { type: 'string' } as const;
const READ_ONLY = { readOnlyHint: true } as const;

/** Returns the definitions for a set of servers. Stable for the same servers; changes only on reload. */
export function metaToolDefinitions(servers: readonly string[]): readonly ToolDefinition[] {
  const tools: readonly (ToolDefinition & { readonly name: MetaToolName })[] = [
    {
      name: 'search_tools',
      description: `Find tools${among(servers)} by what they do, in any words. Results give args; then call execute_tool, or get_tool_details if unsure.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'One thing to do, in English' },
          server: { type: 'string', description: 'Only this server' },
          limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Default 10' },
        },
        required: ['query'],
      },
      annotations: READ_ONLY,
    },
    {
      name: 'get_tool_details',
      description: `Description, parameters and examples of one tool. What ${CUT} cut is given by execute_tool, server ${OWN_SERVER}, tool ${READ_SCHEMA_NAME}, arguments {server, tool, path?: parameter}.`,
      inputSchema: {
        type: 'object',
        properties: { server: SERVER, tool: { type: 'string' } },
        required: ['server', 'tool'],
      },
      annotations: READ_ONLY,
    },
    {
      name: 'execute_tool',
      description: 'Call a tool and get its result.',
      inputSchema: {
        type: 'object',
        properties: {
          server: SERVER,
          tool: { type: 'string' },
          arguments: { type: 'object', description: "The tool's own arguments" },
        },
        required: ['server', 'tool', 'arguments'],
      },
    },
    {
      name: 'list_tools',
      description: 'All tools of one server.',
      inputSchema: {
        type: 'object',
        properties: { server: SERVER, includeDisabled: { type: 'boolean', description: 'Default false' } },
        required: ['server'],
      },
      annotations: READ_ONLY,
    },
    {
      name: 'list_mcp_servers',
      description: 'All servers with status and number of tools.',
      inputSchema: { type: 'object', properties: {} },
      annotations: READ_ONLY,
    },
  ];
  return tools.map((tool) => ({ ...tool, _meta: ALWAYS_LOAD }));
}

export const isMetaTool = (name: string): name is MetaToolName => (META_TOOL_NAMES as readonly string[]).includes(name);

/** ` in github, jira and 3 more`: what can be found, within forty tokens. */
function among(servers: readonly string[]): string {
  const sorted = [...servers].sort();
  let named = '';
  let count = 0;
  for (const name of sorted) {
    const next = named === '' ? name : `${named}, ${name}`;
    if (estimateTokens(next) > LIMITS.answer.nameTokens) continue;
    named = next;
    count++;
  }
  if (count === 0) return sorted.length === 0 ? '' : ` in ${counted(sorted.length, 'server')}`;
  return ` in ${named}${count < sorted.length ? ` and ${sorted.length - count} more` : ''}`;
}
