/**
 * From the name a model wrote to the result of the call: finds the tool, reading its server's list on first need, and runs it
 * where it lives.
 * @module
 */

import { limitTime } from '../../async/time-limit.ts';
import { readingsOf } from '../../catalog/tool-name.ts';
import { DiscoveryError, type ErrorInfo, type Outcome } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { ok } from '../../core/result.ts';
import type { CallToolResult, ToolRef } from '../../core/types.ts';
import { nearestNames } from '../../text/nearest-names.ts';
import { shorten } from '../../text/plain-text.ts';
import type { NamedCall, ToolFormat } from '../formats/definition-types.ts';
import { createNameTable } from '../formats/names.ts';
import { toOwnWords } from '../formats/own-words.ts';
import { namespaceOf } from '../formats/shown-names.ts';
import type { CallReader } from './call-reader.ts';
import type { ProvidedTools } from './provided-tools.ts';
import type { Tell } from './registry-log.ts';
import { toObject } from './static-tool.ts';
import type { ToolDiscovery } from './tool-discovery.ts';
import { type RegistryResult, refuse, toRegistryResult, toReportedFailure, withoutStop } from './tool-error.ts';
import type { ServerCall } from './tool-servers.ts';
import type { OwnTool, ToolEntry, ToolTable } from './tool-table.ts';
import { parseToolName } from './unified-name.ts';

/** What may go along with a call. */
export interface RegistryCallOptions {
  /** Names the request in logs and in the audit log. */
  readonly traceId?: string | undefined;
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
  /** The format of the definitions the model was given. Without it, arguments are read in the words of any format. */
  readonly format?: ToolFormat | undefined;
}

export interface ToolCallerParts {
  readonly table: ToolTable;
  readonly discovery: ToolDiscovery;
  readonly provided: ProvidedTools;
  readonly reader: CallReader;
  readonly tell: Tell;
}

/** A call as a model wrote it. */
export interface ModelCall extends NamedCall {
  readonly format?: ToolFormat | undefined;
  /** The tool itself, where somebody has read the call already. */
  readonly ref?: ToolRef | undefined;
}

/** Calls the tool that is meant. May throw what a tool throws. */
export async function callTool(
  parts: ToolCallerParts,
  call: ModelCall,
  options: RegistryCallOptions,
): Promise<RegistryResult<CallToolResult>> {
  const { name, format, ref } = call;
  if (typeof name !== 'string' || name.length > LIMITS.names.qualified) return parseName(name);
  const seen = ref ? parts.table.findRef(ref.server, ref.tool) : parts.reader.find(call);
  const found = seen
    ? ok(seen)
    : await whileWanted(options.signal, name, 'not_sent', () => findTool(parts, call, options.traceId));
  if (!found.success) return found;
  const { server, definition, own } = found.data;
  const { name: tool } = definition;
  // What cannot be read as arguments is refused where every call is checked.
  const args = ref ? call.arguments : toOwnWords(definition, call.arguments, format);
  const result = own
    ? await runOwn(own, tool, args, options)
    : await callServer(parts.discovery, { server: server ?? '', tool, arguments: readable(tool, args) }, options);
  return result.success && result.data.isError === true ? toReportedFailure(result.data, server, tool) : result;
}

/** A text that is left here is no object; why, is known only here. */
const readable = (tool: string, args: unknown): unknown => (typeof args === 'string' ? toObject(tool, args) : args);

/** The tool behind a name. Providers and servers that may have it are asked if their lists are due. */
async function findTool(
  { table, discovery, provided, reader, tell }: ToolCallerParts,
  call: ModelCall,
  traceId: string | undefined,
): Promise<RegistryResult<ToolEntry>> {
  const { name } = call;
  const read = await provided.readDue('tool', traceId);
  if (read.changed) table.told(tell, traceId);
  const candidates = reader.find(call) ? [] : await serversFor(call, discovery);
  const asked = await Promise.all(candidates.map((server) => discovery.discover(server, traceId)));
  const found = reader.find(call);
  if (found) return ok(found);
  const failure = asked.find((one) => one !== undefined);
  if (failure) return toRegistryResult({ success: false, error: { ...failure, tool: name, outcome: 'not_sent' } });
  const isMalformed = name.includes('__') && !parseToolName(name).success;
  return isMalformed ? parseName(name) : notFound(table, call, read.unread);
}

/** Why a name is none. */
function parseName(name: string): RegistryResult<never> {
  const parsed = parseToolName(name);
  return parsed.success ? refuse('VALIDATION_ERROR', 'That is not the name of a tool.') : parsed;
}

/** Servers whose list is due and may hold a tool of this name. */
async function serversFor({ name, namespace }: ModelCall, discovery: ToolDiscovery): Promise<string[]> {
  const written = new Set(namespace ? [namespace] : [...readingsOf(name)].map(({ server }) => server));
  if (written.size === 0) return [];
  const names = await (await discovery.servers()).serverNames();
  const isMeant = (server: string): boolean =>
    written.has(server) || (namespace ? namespaceOf(server) === namespace : name.startsWith(prefixOf(server)));
  return names.filter((server) => isMeant(server) && discovery.isStale(server));
}

const prefixes = new Map<string, string>();

/** What the names of a server's tools begin with. */
function prefixOf(server: string): string {
  const known = prefixes.get(server);
  if (known !== undefined) return known;
  const prefix = createNameTable([{ server, name: '' }]).nameOf({ server, tool: '' }) ?? `${server}__`;
  if (prefixes.size >= LIMITS.names.prefixes) prefixes.clear();
  prefixes.set(server, prefix);
  return prefix;
}

/** Nobody has it, or nobody who could be asked: then asking again may help. */
function notFound(
  table: ToolTable,
  { name, namespace }: ModelCall,
  unread: readonly ErrorInfo[],
): RegistryResult<never> {
  const suggestions = nearestNames(
    namespace ? `${namespace}__${name}` : name,
    table.entries.map((entry) => entry.name),
  );
  const quoted = suggestions.map((one) => `"${one}"`).join(', ');
  const hint = suggestions.length > 0 ? ` Did you mean ${quoted}?` : '';
  const within = namespace ? ` in "${shorten(namespace, 100)}"` : '';
  const message = `There is no tool "${shorten(name, 100)}"${within}.${hint}`;
  const [failure] = unread;
  if (!failure) return refuse('TOOL_NOT_FOUND', message, { tool: name, suggestions });
  const { server, retryable } = failure;
  const reason = `${message} But the tools of ${server} are not known: ${withoutStop(failure.message)}.`;
  return refuse(failure.code, reason, { server, tool: name, suggestions, retryable });
}

async function callServer(
  discovery: ToolDiscovery,
  call: ServerCall,
  { traceId, signal }: RegistryCallOptions,
): Promise<RegistryResult<CallToolResult>> {
  const servers = await discovery.servers();
  return toRegistryResult(await servers.call({ ...call, traceId, signal }));
}

/** Runs a tool of the program. */
async function runOwn(
  own: OwnTool,
  tool: string,
  sent: unknown,
  { traceId, signal }: RegistryCallOptions,
): Promise<RegistryResult<CallToolResult>> {
  const args = toObject(tool, sent);
  const outcome = signal?.aborted ? 'not_sent' : 'unknown';
  return ok(await whileWanted(signal, tool, outcome, (ended) => own.run(args, { traceId, signal: ended })));
}

/** Does something for as long as the caller waits; CANCELLED when he does no more, whatever becomes of the work. */
async function whileWanted<T>(
  signal: AbortSignal | undefined,
  tool: string,
  outcome: Outcome,
  work: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const overdue = () => new Error(`${tool} took for ever.`);
  try {
    return await limitTime({ ms: Number.POSITIVE_INFINITY, parent: signal, overdue }, work);
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new DiscoveryError('CANCELLED', `The call of ${shorten(tool, 100)} was cancelled.`, { tool, outcome });
  }
}
