/**
 * Joins and splits `server__tool`, the name that a model sees, without looking tools up. A registry looks a name up
 * first.
 * @module
 */
import { formatToolName as formatRef } from '../../catalog/tool-name.ts';
import { LIMITS } from '../../core/limits.ts';
import { ok } from '../../core/result.ts';
import type { ToolRef } from '../../core/types.ts';
import { type RegistryResult, refuse } from './tool-error.ts';

/** The parts of a name. */
export interface ParsedToolName {
  readonly serverName: string;
  /** The tool's name on its server. */
  readonly toolName: string;
}

const SEPARATOR = '__';

/**
 * Splits a name at the first `__`. Fails with TOOL_INVALID_INPUT for a name without `__`, or with an empty side.
 * @example
 * parseToolName('rube__search'); // { success: true, data: { serverName: 'rube', toolName: 'search' } }
 */
export function parseToolName(name: string): RegistryResult<ParsedToolName> {
  if (typeof name !== 'string' || name.length > LIMITS.names.qualified)
    return refuse('VALIDATION_ERROR', `A tool name must be a string of at most ${LIMITS.names.qualified} characters.`);
  const at = name.indexOf(SEPARATOR);
  if (at > 0 && at + SEPARATOR.length < name.length)
    return ok({ serverName: name.slice(0, at), toolName: name.slice(at + SEPARATOR.length) });
  const problem = at === -1 ? 'has no "__"' : `has ${at === 0 ? 'no server before' : 'no tool after'} its "__"`;
  return refuse('VALIDATION_ERROR', `"${name}" is not the name of an MCP tool (server__tool): it ${problem}.`);
}

/** `server__tool`, from the pair in either spelling. */
export const formatToolName = (name: ToolRef | ParsedToolName): string =>
  'server' in name ? formatRef(name) : formatRef({ server: name.serverName, tool: name.toolName });
