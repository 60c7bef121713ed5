/**
 * Defines `tool_search` and `execute_tool`, and runs them.
 * @module
 */
import { DiscoveryError } from '../../core/errors.ts';
import { ALWAYS_LOAD } from '../../core/own-server.ts';
import type { ToolContext } from '../../core/tool-provider.ts';
import type { CallToolResult, ToolDefinition } from '../../core/types.ts';
import { repairArguments } from '../../execution/validation/repair-arguments.ts';
import { oneLine } from '../../text/plain-text.ts';
import { isNotFound } from './check-provider.ts';
import { toErrorResult } from './handler-result.ts';
import type { ToolView } from './tool-view.ts';

/** The tool that finds others. */
export const TOOL_SEARCH = 'tool_search';
/** The tool that runs a found tool. */
export const EXECUTE_TOOL = 'execute_tool';

/** The definitions of the two. `about` says in a few words what can be found. */
export function discoveryTools(about: string | undefined): readonly [ToolDefinition, ToolDefinition] {
  const what = about === undefined ? '' : ` Tools for ${about}.`;
  return [
    {
      name: TOOL_SEARCH,
      description: `Search for tools that are not listed here, by what they do, by name or by keyword.${what} Call what it finds with ${EXECUTE_TOOL}.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'What the tool should do, or its name' },
          max_results: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
        },
        required: ['query'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      _meta: ALWAYS_LOAD,
    },
    {
      name: EXECUTE_TOOL,
      description: `Run a tool that ${TOOL_SEARCH} found.`,
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name of the tool' },
          arguments: { type: 'object', description: 'Its arguments, as its input_schema says' },
        },
        required: ['name'],
      },
      _meta: ALWAYS_LOAD,
    },
  ];
}

type Arguments = Readonly<Record<string, unknown>>;
/** Tells whether a name is one of the server's own tools, which are called directly. */
type IsListed = (name: string) => Promise<boolean>;

/** Returns the hits as a JSON array. Separate texts say what could not be searched, and what to do if nothing fits. */
export async function runToolSearch(view: ToolView, args: Arguments, compact: boolean): Promise<CallToolResult> {
  const { query, max_results: most } = args;
  const maxResults = typeof most === 'string' && most.trim() !== '' ? Number(most) : (most ?? undefined);
  if (typeof query !== 'string') return refuse(TOOL_SEARCH, '"query" must be a string');
  if (maxResults !== undefined && !(typeof maxResults === 'number' && maxResults >= 1)) {
    return refuse(TOOL_SEARCH, '"max_results" must be a number from 1 to 100');
  }
  const { results, notes, hint } = await view.search(query, { maxResults, compact });
  const texts = [
    JSON.stringify(results),
    ...(notes.length > 0 ? [`Not everything could be searched: ${notes.join('; ')}`] : []),
    ...(hint === undefined ? [] : [hint]),
  ];
  return { content: texts.map((text) => ({ type: 'text', text })) };
}

/** Runs a found tool. An unknown name gets suggestions. Arguments may also stand beside the name. */
export async function runExecuteTool(
  view: ToolView,
  args: Arguments,
  context: ToolContext,
  isListed: IsListed,
): Promise<CallToolResult> {
  const { name, arguments: given, ...beside } = args;
  if (typeof name !== 'string' || name === '') return refuse(EXECUTE_TOOL, '"name" must be the name of a tool');
  const inner = repairArguments(given ?? beside);
  if (inner === undefined) return refuse(EXECUTE_TOOL, '"arguments" must be an object');
  return runTool(view, name, inner, context, isListed);
}

/** Runs a tool by its own name. */
export async function runTool(
  view: ToolView,
  name: string,
  args: Arguments,
  context: ToolContext,
  isListed: IsListed,
): Promise<CallToolResult> {
  try {
    return await view.call(name, args, context);
  } catch (thrown) {
    if (!isNotFound(thrown, name)) return toErrorResult(thrown);
    return toErrorResult(await notFound(view, name, isListed));
  }
}

async function notFound(view: ToolView, name: string, isListed: IsListed): Promise<DiscoveryError> {
  const shown = oneLine(name, 128);
  if (await isListed(name)) {
    const message = `"${shown}" is in your tool list: call it directly, without ${EXECUTE_TOOL}.`;
    return new DiscoveryError('TOOL_NOT_FOUND', message, { tool: shown, outcome: 'not_sent' });
  }
  const { message, details } = view.notFound(name);
  return new DiscoveryError('TOOL_NOT_FOUND', `${message} Search with ${TOOL_SEARCH}.`, { ...details, tool: shown });
}

/** Refuses a call with what is wrong with its arguments. */
export const refuse = (tool: string, problem: string): CallToolResult =>
  toErrorResult(
    new DiscoveryError(
      'TOOL_VALIDATION_ERROR',
      `Arguments of ${tool} do not fit its schema: ${problem}. Fix these and call again.`,
      {
        tool,
        outcome: 'not_sent',
      },
    ),
  );
