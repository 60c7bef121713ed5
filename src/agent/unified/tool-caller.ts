/**
 * Calls the tool that a model named. Looks among the known tools first, then reads the lists that may contain it.
 * @module
 */

import { abortable } from '../../async/abortable.ts';
import { readingsOf } from '../../catalog/tool-name.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { ok } from '../../core/result.ts';
import type { CallToolResult, ToolRef } from '../../core/types.ts';
import { repairArguments } from '../../execution/validation/repair-arguments.ts';
import { nearestNames } from '../../text/nearest-names.ts';
import { shorten } from '../../text/plain-text.ts';
import type { NamedCall, ToolFormat } from '../formats/definition-types.ts';
import { plainName } from '../formats/names.ts';
import { toOwnWords } from '../formats/own-words.ts';
import { namespaceOf, type SeenNames } from '../formats/shown-names.ts';
import { argumentsProblem } from '../formats/tool-call.ts';
import type { EngineTools, SourceCallOptions } from './engine-tools.ts';
import type { Tell } from './registry-log.ts';
import {
  type RegistryResult,
  refuse,
  toDiscoveryFailure,
  toRegistryResult,
  toReportedFailure,
  withoutStop,
} from './tool-error.ts';
import type { FoundTool, ToolTable } from './tool-table.ts';
import { parseToolName } from './unified-name.ts';

export interface RegistryCallOptions extends SourceCallOptions {
  /** The format of the model's definitions. Without it, arguments of every format are understood. */
  readonly format?: ToolFormat | undefined;
}

export interface ToolCallerParts {
  readonly table: ToolTable;
  readonly engine: EngineTools;
  readonly seen: SeenNames;
  readonly tell: Tell;
}

/** A call as a model wrote it. */
export interface ModelCall extends NamedCall {
  readonly format?: ToolFormat | undefined;
  /** The tool itself, if the name was already resolved. */
  readonly ref?: ToolRef | undefined;
}

/** Calls the tool. May throw what the tool throws. */
export async function callTool(
  parts: ToolCallerParts,
  call: ModelCall,
  options: RegistryCallOptions,
): Promise<RegistryResult<CallToolResult>> {
  const { name, format, ref } = call;
  const { table, engine } = parts;
  if (typeof name !== 'string' || name.length > LIMITS.names.qualified) return parseName(name);
  const known = ref ? table.findRef(ref.server, ref.tool) : knownTool(parts, call);
  const found = known
    ? ok(known)
    : await abortable(findTool(parts, call, options), options.signal).catch(cancelled(options.signal, name));
  if (!found.success) return found;
  const { server, definition, from } = found.data;
  const { name: tool } = definition;
  const args = ref ? call.arguments : toOwnWords(definition, call.arguments, format);
  const source = from?.provider ?? server ?? '';
  const result = toRegistryResult(await engine.call(source, tool, readable(tool, args), options));
  return result.success && result.data.isError === true ? toReportedFailure(result.data, server, tool) : result;
}

/** Throws for arguments that are still a string, and says why they are not an object. Returns all others. */
function readable(tool: string, args: unknown): unknown {
  if (typeof args !== 'string' || repairArguments(args)) return args;
  const message = `Arguments of ${tool} ${argumentsProblem(args)}.`;
  throw new DiscoveryError('TOOL_VALIDATION_ERROR', message, { tool, outcome: 'not_sent', schema: { type: 'object' } });
}

/** Finds a known tool: by the names that models were shown, else by any way to split a name into server and tool. */
function knownTool({ table, seen }: ToolCallerParts, { name, namespace }: ModelCall): FoundTool | undefined {
  const exists = ({ server, tool }: ToolRef) => table.findRef(server, tool);
  const shown = seen.find(name, namespace, exists);
  if (shown || !namespace) return shown ?? table.findPlain(name);
  // In a namespace, a bare name must not lead to a tool of another server.
  const now = table.view.shown.refOf(name, namespace);
  return (now && exists(now)) ?? table.findRef(namespace, name);
}

/** Finds the tool of an unknown name. Reads due lists that may contain it. */
async function findTool(
  parts: ToolCallerParts,
  call: ModelCall,
  { signal, traceId }: RegistryCallOptions,
): Promise<RegistryResult<FoundTool>> {
  signal?.throwIfAborted();
  const { table, engine, tell } = parts;
  const { name, namespace } = call;
  const { changed, failures } = await engine.discover(traceId, (servers) => serversFor(call, servers));
  if (changed) table.told(tell, traceId);
  const found = knownTool(parts, call) ?? (namespace ? undefined : table.find(name));
  if (found) return ok(found);
  const unread = engine.unread();
  const failure = failures.find(({ server }) => unread.every((one) => one.server !== server));
  if (failure) return toDiscoveryFailure({ ...failure, tool: name, outcome: 'not_sent' });
  const parsed = parseToolName(namespace ? `${namespace}__${name}` : name);
  if (!parsed.success && name.includes('__')) return parsed;
  if (unread.length === 0 && parsed.success && !isNamed(parts, call)) {
    const missing = await engine.missing(parsed.data.serverName);
    if (missing) return toDiscoveryFailure({ ...missing, tool: parsed.data.toolName });
  }
  return notFound(table, call, unread);
}

/** Whether a name may belong to a known server. */
const isNamed = ({ table }: ToolCallerParts, { name, namespace }: ModelCall): boolean =>
  [...readingsOf(namespace ? `${namespace}__${name}` : name)].some(({ server }) => table.hasServer(server)) ||
  (namespace !== undefined &&
    table.view.entries.some(({ server }) => server !== null && namespaceOf(server) === namespace));

/** Why a name cannot be used. */
function parseName(name: string): RegistryResult<never> {
  const parsed = parseToolName(name);
  return parsed.success ? refuse('VALIDATION_ERROR', 'That is not the name of a tool.') : parsed;
}

/** The servers that may have a tool of this name. */
function serversFor({ name, namespace }: ModelCall, servers: ReadonlyMap<string, unknown>): readonly string[] {
  const written = namespace ? [namespace] : [...readingsOf(name)].map(({ server }) => server);
  const exact = written.filter((server) => servers.has(server));
  if (exact.length > 0 || written.length === 0) return exact;
  return [...servers.keys()].filter((server) =>
    namespace ? namespaceOf(server) === namespace : name.startsWith(prefixOf(server)),
  );
}

/** The prefix of a server's tool names, in characters that every API allows. */
const prefixOf = (server: string): string => plainName({ server, tool: '' });

/** The failure for an unknown name. It can be retried if some lists could not be read. */
function notFound(
  table: ToolTable,
  { name, namespace }: ModelCall,
  unread: ReturnType<EngineTools['unread']>,
): RegistryResult<never> {
  const names = table.view.entries.map((entry) => entry.name);
  const suggestions = nearestNames(namespace ? `${namespace}__${name}` : name, names);
  const quoted = suggestions.map((one) => `"${one}"`).join(', ');
  const hint = suggestions.length > 0 ? ` Did you mean ${quoted}?` : '';
  const within = namespace ? ` in "${shorten(namespace, 100)}"` : '';
  const message = `There is no tool "${shorten(name, 100)}"${within}.${hint}`;
  const [failure] = unread;
  if (!failure) return refuse('TOOL_NOT_FOUND', message, { tool: name, suggestions });
  const { server, retryable } = failure;
  const reason = `${message} But the tools of ${server} are not known: ${withoutStop(failure.message)}.`;
  return toDiscoveryFailure({ ...failure, message: reason, tool: name, suggestions, retryable, outcome: 'not_sent' });
}

/** Throws CANCELLED when the caller has cancelled. */
const cancelled =
  (signal: AbortSignal | undefined, tool: string) =>
  (error: unknown): never => {
    const message = `The call of ${shorten(tool, 100)} was cancelled.`;
    throw signal?.aborted ? new DiscoveryError('CANCELLED', message, { tool, outcome: 'not_sent' }) : error;
  };
