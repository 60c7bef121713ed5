/**
 * Names the gateway's own server and its tools, for every module that refers to them.
 * @module
 */

import type { ErrorInfo } from './errors.ts';

/** The server name reserved for the gateway's own tools. */
export const OWN_SERVER = 'anygpt';

/** The five meta-tools, in the order they are listed. */
export const META_TOOL_NAMES = [
  'search_tools',
  'get_tool_details',
  'execute_tool',
  'list_tools',
  'list_mcp_servers',
] as const;

/** Whether an own tool may not have a name, because a meta-tool has it. */
export const isReservedTool = (name: string): boolean =>
  name === 'tool_search' || (META_TOOL_NAMES as readonly string[]).includes(name);

/** The tool that reads parts of another tool's schema. */
export const READ_SCHEMA_NAME = 'read_schema';

/**
 * `_meta` of a tool that a client's own tool search (Claude's agents) must not hide, because it would not be found
 * there.
 */
export const ALWAYS_LOAD = { 'anthropic/alwaysLoad': true } as const;

/** A failure without the sentences that send the reader to a meta-tool, for a model that was shown none. */
export const withoutMetaTools = (error: ErrorInfo): ErrorInfo =>
  error.code === 'TOOL_NOT_FOUND' || error.code === 'SERVER_NOT_FOUND'
    ? { ...error, message: error.message.split(SENTENCES).filter(isForAll).join(' ') }
    : error;

const SENTENCES = /(?<=[.?!]) /;

const isForAll = (sentence: string): boolean => !sentence.split(/\W+/).some(isReservedTool);
