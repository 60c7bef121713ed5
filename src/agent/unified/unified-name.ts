/**
 * Writes and splits `server__tool`, the name that a model sees, by its letters alone. A registry first looks up which tool
 * has a name.
 * @module
 */
import { formatToolName as formatRef } from '../../catalog/tool-name.ts';
import { LIMITS } from '../../core/limits.ts';
import { ok } from '../../core/result.ts';
import type { ToolRef } from '../../core/types.ts';
import { type RegistryResult, refuse } from './tool-error.ts';

/** A name taken apart. */
export interface ParsedToolName {
  readonly serverName: string;
  /** The tool's name on its server. */
  readonly toolName: string;
}

const SEPARATOR = '__';

/**
 * Splits a name at the first `__`. TOOL_INVALID_INPUT for a name without one, or with nothing on one side of it.
 * @example
 * parseToolName('rube__search'); // { success: true, data: { serverName: 'rube', toolName: 'search' } }
 */
export function parseToolName(name: string): RegistryResult<ParsedToolName> {
  if (typeof name !== 'string' || name.length > LIMITS.names.qualified)
    return refuse('VALIDATION_ERROR', `A tool's name is a text of at most ${LIMITS.names.qualified} characters.`);
  const at = name.indexOf(SEPARATOR);
  if (at > 0 && at + SEPARATOR.length < name.length)
    return ok({ serverName: name.slice(0, at), toolName: name.slice(at + SEPARATOR.length) });
  const problem = at === -1 ? 'has no "__"' : `has ${at === 0 ? 'no server before' : 'no tool after'} its "__"`;
  return refuse('VALIDATION_ERROR', `"${name}" is not the name of an MCP tool, server__tool: it ${problem}.`);
}

/** `server__tool`, from the pair in either spelling. */
export const formatToolName = (name: ToolRef | ParsedToolName): string =>
  'server' in name ? formatRef(name) : formatRef({ server: name.serverName, tool: name.toolName });
