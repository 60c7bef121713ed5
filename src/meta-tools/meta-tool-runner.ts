/**
 * Runs the five meta-tools: checks the agent's arguments, asks the engine, and shapes the answer.
 * @module
 */

import { LOOP_REFUSAL } from '../core/hops.ts';
import { LIMITS } from '../core/limits.ts';
import { fail, type ToolResult, toFailure } from '../core/result.ts';
import type { CallToolResult } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { parseWritten } from '../json/json-nesting.ts';
import { shorten } from '../text/plain-text.ts';
import { answer, failure, serverListAnswer, toolListAnswer } from './answers.ts';
import { detailsAnswer } from './details-answer.ts';
import { isMetaTool, META_TOOL_NAMES, type MetaToolName } from './meta-tools.ts';
import { misspeltArgument } from './misspelt-argument.ts';
import type { CallContext, RunTool } from './run-tool.ts';
import { searchAnswer } from './search-answer.ts';

const WRAPPERS = new Set(['arguments', 'args', 'params', 'parameters', 'input']);

type Arguments = Readonly<Record<string, unknown>>;
type Run = (engine: EngineCore, args: Arguments, context: CallContext) => Promise<CallToolResult>;

/** Runs meta-tools by name. Never rejects; errors are in the result. */
export function createMetaToolRunner(engine: EngineCore): RunTool {
  return (name, raw, context) => {
    if (!isMetaTool(name)) return callPinned(engine, name, raw, context);
    const args = lift(asObject(raw));
    if (name === 'execute_tool') return execute(engine, args && withTool(args), context);
    return look(engine, name, args, context).catch((error) => asResult(brokenOr(engine, toFailure(error))));
  };
}

const ended = (text: string): string => (/[.!?;…]$/.test(text) ? text : `${text}.`);

/** The user's next step for an unusable configuration. The user hears of it only through the agent. */
const MEND =
  'Until this is fixed there are no tools. Ask the user to fix it and to run `anygpt mcp config reload` (with --watch it is reloaded automatically); `anygpt mcp config validate` checks it.';

/**
 * Returns the failure unchanged, unless the configuration is unusable: then that is the reason, and the message says
 * what to do.
 */
function brokenOr(engine: EngineCore, failed: ToolResult<never>): ToolResult<never> {
  const { problem } = engine;
  if (problem === undefined) return failed;
  const message = `The configuration of this gateway cannot be used: ${ended(shorten(problem.message, LIMITS.text.long))} ${MEND}`;
  return fail('CONFIGURATION_ERROR', message, { outcome: 'not_sent' });
}

function noSuchTool(name: string): ToolResult<never> {
  const hint = `This server has ${META_TOOL_NAMES.join(', ')}. To call another tool, use execute_tool.`;
  return fail('TOOL_NOT_FOUND', `There is no tool "${shorten(name, 100)}" here. ${hint}`, {
    tool: name,
    outcome: 'not_sent',
  });
}

/** Calls a pinned tool through the same pipeline as `execute_tool`. */
async function callPinned(
  engine: EngineCore,
  name: string,
  raw: unknown,
  context: CallContext,
): Promise<CallToolResult> {
  const pinned = await engine.pinned(context).catch(() => undefined);
  const ref = pinned?.get(name)?.ref;
  if (ref === undefined) return asResult(noSuchTool(name));
  const result = await engine.call({ ...ref, arguments: raw, ...context });
  return result.success ? result.data : asResult(brokenOr(engine, result));
}

/** Passes refused calls to the engine too, because it records every call. */
async function execute(engine: EngineCore, args: Arguments | undefined, context: CallContext): Promise<CallToolResult> {
  const refusal = callRefusal(args);
  const { server, tool, arguments: given }: Arguments = args ?? {};
  const request = {
    server: (server ?? '') as string,
    tool: (tool ?? '') as string,
    arguments: given ?? besidePair(args),
    caller: context.caller,
    signal: context.signal,
    onProgress: context.onProgress,
    onNotification: context.onNotification,
    meta: context.meta,
    inputResponses: context.inputResponses,
    requestState: context.requestState,
    request: context.request,
  };
  const result = await (refusal ? engine.refuse(refusal, request) : engine.call(request));
  return result.success ? result.data : asResult(brokenOr(engine, result));
}

/** Returns what is wrong with a call before its tool is looked up. */
function callRefusal(args: Arguments | undefined): ToolResult<never> | undefined {
  const name = 'execute_tool';
  if (!args) return notAnObject(name);
  const slip = isComplete(args) ? undefined : misspeltArgument(name, args);
  if (slip !== undefined) return invalid(name, slip);
  return pair(args) ? undefined : badPair(name);
}

const isComplete = ({ server, tool, arguments: given }: Arguments): boolean =>
  server !== undefined && tool !== undefined && given !== undefined;

/** Answers from known tools; calls none of them. */
async function look(
  engine: EngineCore,
  name: keyof typeof TOOLS,
  args: Arguments | undefined,
  context: CallContext,
): Promise<CallToolResult> {
  if (context.meta && (await engine.isLoop(context.meta))) return asResult(LOOP_REFUSAL);
  if (!args) return asResult(notAnObject(name));
  const slip = misspeltArgument(name, args);
  return slip === undefined ? TOOLS[name](engine, args, context) : asResult(invalid(name, slip));
}

const TOOLS: Readonly<Record<Exclude<MetaToolName, 'execute_tool'>, Run>> = {
  search_tools: async (engine, args, { caller }) => {
    const { query, server, limit } = args;
    if (typeof query !== 'string') return badArgument('search_tools', 'query', 'a string');
    if (server !== undefined && server !== null && typeof server !== 'string')
      return badArgument('search_tools', 'server', 'a string');
    const count = limit === undefined || limit === null ? undefined : Number(limit);
    if (count !== undefined && !(count >= 1)) return badArgument('search_tools', 'limit', 'a number from 1 to 100');
    const most = count && Math.min(Math.floor(count), LIMITS.search.results);
    const found = await engine.find(query, { server: server || undefined, limit: most, items: true, caller });
    if (!found.success) return asResult(found);
    const { results, notes } = found.data;
    return searchAnswer(results, notes, most !== undefined);
  },

  get_tool_details: async (engine, args, { caller }) => {
    const ref = pair({ ...args, tool: args.tool ?? args.name });
    if (!ref) return asResult(badPair('get_tool_details'));
    const found = await engine.describe(ref.server, ref.tool, { caller });
    return found.success ? detailsAnswer(found.data) : asResult(found);
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

  list_mcp_servers: async (engine, _args, { caller }) =>
    serverListAnswer(await engine.listServers({ caller }), engine.notes({ caller })),
};

/** Returns the pair as written; `server:tool` may be in either field, and the engine splits it. */
function pair({ server, tool }: Arguments): { readonly server: string; readonly tool: string } | undefined {
  const [first, second] = [server ?? '', tool ?? ''];
  return typeof first === 'string' && typeof second === 'string' && first + second !== ''
    ? { server: first, tool: second }
    : undefined;
}

/** Some agents write `name` for `tool`. Beside a server, it may be one of the tool's own arguments instead. */
function withTool(args: Arguments): Arguments {
  const { name, server, tool } = args;
  if (typeof name !== 'string' || tool || (server && args.arguments === undefined)) return args;
  const { name: _, ...rest } = args;
  return { ...rest, tool: name };
}

/** Some agents write the tool's own arguments beside `server` and `tool`. */
function besidePair({ server: _server, tool: _tool, arguments: _arguments, ...rest }: Arguments = {}): Arguments {
  return rest;
}

const badPair = (name: MetaToolName): ToolResult<never> => invalid(name, '"server" and "tool" must be strings.');

const notAnObject = (name: MetaToolName): ToolResult<never> => invalid(name, 'the arguments must be an object.');

const invalid = (tool: MetaToolName, what: string): ToolResult<never> =>
  fail('TOOL_VALIDATION_ERROR', `${tool}: ${what}`, { tool, outcome: 'not_sent' });

const asResult = (failed: ToolResult<unknown>): CallToolResult => (failed.success ? answer({}) : failure(failed.error));

const badArgument = (tool: MetaToolName, argument: string, expected: string): CallToolResult =>
  asResult(invalid(tool, `"${argument}" must be ${expected}.`));

/** Some agents wrap the arguments once too often; no meta-tool is complete with such a key alone. */
function lift(args: Arguments | undefined): Arguments | undefined {
  if (!args) return undefined;
  const keys = Object.keys(args);
  const [key = ''] = keys;
  return keys.length === 1 && WRAPPERS.has(key) ? (asObject(args[key]) ?? args) : args;
}

function asObject(raw: unknown): Arguments | undefined {
  if (raw === undefined || raw === null) return {};
  if (typeof raw === 'string') {
    try {
      return asObject(parseWritten(raw));
    } catch {
      return undefined;
    }
  }
  return typeof raw === 'object' && !Array.isArray(raw) ? (raw as Arguments) : undefined;
}
