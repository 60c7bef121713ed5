/**
 * The five meta-tools at work: checks what the agent wrote, asks the engine, shapes the answer.
 * @module
 */
import type { DiscoveryEngine } from '../discovery-engine.ts';
import { fail, type ToolResult } from '../result.ts';
import type { CallToolResult } from '../types.ts';
import { answer, failure, serverListAnswer, toolListAnswer } from './answers.ts';
import { detailsAnswer } from './details-answer.ts';
import { isMetaTool, META_TOOL_NAMES, type MetaToolName } from './meta-tools.ts';
import { searchAnswer } from './search-answer.ts';
import type { CallContext, RunTool } from './upstream.ts';

const MAX_LIMIT = 100;
const WRAPPERS = new Set(['arguments', 'args', 'params', 'parameters', 'input']);

type Arguments = Readonly<Record<string, unknown>>;
type Run = (engine: DiscoveryEngine, args: Arguments, context: CallContext) => Promise<CallToolResult>;

/** Runs meta-tools by name. Never rejects; what goes wrong is in the result. */
export function createMetaToolRunner(engine: DiscoveryEngine): RunTool {
  return async (name, raw, context) => {
    if (!isMetaTool(name)) {
      const hint = `This server has ${META_TOOL_NAMES.join(', ')}. To call another tool, use execute_tool.`;
      return asResult(
        fail('TOOL_NOT_FOUND', `There is no tool "${name}" here. ${hint}`, { tool: name, outcome: 'not_sent' }),
      );
    }
    if (context.meta && (await engine.isLoop(context.meta))) return asResult(LOOP);
    const args = lift(asObject(raw));
    if (!args)
      return asResult(fail('TOOL_VALIDATION_ERROR', `The arguments of ${name} must be an object.`, { tool: name }));
    return TOOLS[name](engine, args, context);
  };
}

const LOOP = fail(
  'CONFIGURATION_ERROR',
  'This gateway is configured as one of its own servers, directly or through another gateway. Take it out of the servers.',
  { outcome: 'not_sent' },
);

const TOOLS: Readonly<Record<MetaToolName, Run>> = {
  search_tools: async (engine, args, { caller }) => {
    const { query, server, limit } = args;
    if (typeof query !== 'string') return badArgument('search_tools', 'query', 'a string');
    if (server !== undefined && server !== null && typeof server !== 'string')
      return badArgument('search_tools', 'server', 'a string');
    const count = limit === undefined || limit === null ? undefined : Number(limit);
    if (count !== undefined && !(count >= 1)) return badArgument('search_tools', 'limit', 'a number from 1 to 100');
    const most = count && Math.min(Math.floor(count), MAX_LIMIT);
    const found = await engine.find(query, { server: server || undefined, limit: most, caller });
    if (!found.success) return asResult(found);
    const { results, notes } = found.data;
    return searchAnswer(results, notes, most !== undefined);
  },

  get_tool_details: async (engine, args, { caller }) => {
    const ref = pair(args);
    if (!ref) return badPair('get_tool_details');
    const found = await engine.describe(ref.server, ref.tool, { caller });
    return found.success ? detailsAnswer(found.data) : asResult(found);
  },

  execute_tool: async (engine, args, context) => {
    const ref = pair(args);
    if (!ref) return badPair('execute_tool');
    const { caller, signal, onProgress, onNotification, meta, inputResponses, requestState } = context;
    const result = await engine.call({
      server: ref.server,
      tool: ref.tool,
      arguments: args.arguments ?? besidePair(args),
      caller,
      signal,
      onProgress,
      onNotification,
      meta,
      inputResponses,
      requestState,
    });
    return result.success ? result.data : failure(result.error);
  },

  list_tools: async (engine, args, { caller }) => {
    const { server, includeDisabled } = args;
    if (typeof server !== 'string') return badArgument('list_tools', 'server', 'a string');
    const found = await engine.toolsOf(server, {
      includeDisabled: includeDisabled === true || includeDisabled === 'true',
      caller,
    });
    return found.success ? toolListAnswer(server, found.data) : asResult(found);
  },

  list_mcp_servers: async (engine) => serverListAnswer(await engine.listServers(), engine.notes()),
};

/** The pair as it was written; `server:tool` may stand in either field, and the engine takes it apart. */
function pair({ server, tool }: Arguments): { readonly server: string; readonly tool: string } | undefined {
  const [first, second] = [server ?? '', tool ?? ''];
  return typeof first === 'string' && typeof second === 'string' && first + second !== ''
    ? { server: first, tool: second }
    : undefined;
}

/** Some agents write the tool's own arguments beside `server` and `tool`. */
function besidePair({ server: _server, tool: _tool, arguments: _arguments, ...rest }: Arguments): Arguments {
  return rest;
}

const badPair = (name: MetaToolName): CallToolResult => badArgument(name, 'server" and "tool', 'strings');

const asResult = (failed: ToolResult<unknown>): CallToolResult => (failed.success ? answer({}) : failure(failed.error));

const badArgument = (tool: string, argument: string, expected: string): CallToolResult =>
  asResult(fail('TOOL_VALIDATION_ERROR', `${tool}: "${argument}" must be ${expected}.`, { tool, outcome: 'not_sent' }));

/** Some agents wrap the whole call once too often; no meta-tool is complete with such a key alone. */
function lift(args: Arguments | undefined): Arguments | undefined {
  const [key, ...others] = Object.keys(args ?? {});
  if (!args || key === undefined || others.length > 0 || !WRAPPERS.has(key)) return args;
  return asObject(args[key]) ?? args;
}

function asObject(raw: unknown): Arguments | undefined {
  if (raw === undefined || raw === null) return {};
  if (typeof raw === 'string') {
    try {
      return asObject(JSON.parse(raw));
    } catch {
      return undefined;
    }
  }
  return typeof raw === 'object' && !Array.isArray(raw) ? (raw as Arguments) : undefined;
}
