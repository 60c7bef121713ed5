/**
 * From the name a model wrote to the result of the call: finds the tool, reading its server's list on first need, and runs it
 * where it lives.
 * @module
 */
import { readingsOf } from '../catalog/tool-name.ts';
import { DiscoveryError, type Outcome } from '../errors.ts';
import type { NamedCall, ToolFormat } from '../formats/definition-types.ts';
import { createNameTable } from '../formats/names.ts';
import { nearestNames } from '../nearest-names.ts';
import { shorten } from '../plain-text.ts';
import { limitTime } from '../registry/time-limit.ts';
import { ok } from '../result.ts';
import type { CallToolResult } from '../types.ts';
import type { Definitions } from './definitions.ts';
import type { ProvidedTools } from './provided-tools.ts';
import type { Tell } from './registry-log.ts';
import { readArguments } from './static-tool.ts';
import type { ToolDiscovery } from './tool-discovery.ts';
import { type RegistryResult, refuse, toRegistryResult, toReportedFailure } from './tool-error.ts';
import { parseToolName } from './tool-name.ts';
import type { ServerCall } from './tool-servers.ts';
import type { OwnTool, ToolEntry, ToolTable } from './tool-table.ts';

/** What may go along with a call. */
export interface RegistryCallOptions {
  /** Names the request in logs and in the audit log. */
  readonly traceId?: string | undefined;
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
  /** The format of the definitions the model was given. Default: the one that was asked for last. */
  readonly format?: ToolFormat | undefined;
}

export interface ToolCallerParts {
  readonly table: ToolTable;
  readonly discovery: ToolDiscovery;
  readonly provided: ProvidedTools;
  readonly definitions: Definitions;
  readonly tell: Tell;
}

/** A call as a model wrote it. */
export interface ModelCall extends NamedCall {
  /** The format of the definitions it was given; without it, the one that was asked for last. */
  readonly format?: ToolFormat | undefined;
}

const MAX_NAME = 1024;

/** Calls the tool that is meant. May throw what a tool throws. */
export async function callTool(
  parts: ToolCallerParts,
  call: ModelCall,
  options: RegistryCallOptions,
): Promise<RegistryResult<CallToolResult>> {
  const read = parts.definitions.readCall(call, call.format);
  const seen = read && parts.table.findRef(read.server, read.tool);
  const found = seen
    ? ok(seen)
    : await whileWanted(options.signal, call.name, 'not_sent', () => findTool(parts, call.name, options.traceId));
  if (!found.success) return found;
  // What cannot be read as arguments is refused where every call is checked.
  const args = seen && read && read.invalid === undefined ? read.arguments : call.arguments;
  const { server, definition, own } = found.data;
  const { name: tool } = definition;
  const result = own
    ? await runOwn(own, tool, args, options)
    : await callServer(parts.discovery, { server: server ?? '', tool, arguments: args }, options);
  return result.success && result.data.isError === true ? toReportedFailure(result.data, server, tool) : result;
}

/** The tool behind a name. Providers and servers that may have it are asked if their lists are due. */
async function findTool(
  { table, discovery, provided, tell }: ToolCallerParts,
  name: string,
  traceId: string | undefined,
): Promise<RegistryResult<ToolEntry>> {
  if (typeof name !== 'string' || name.length > MAX_NAME) return parseName(name);
  const known = table.find(name);
  if (known) return ok(known);
  const { changed } = await provided.readDue(traceId);
  if (changed) table.told(tell, traceId);
  const candidates = table.find(name) ? [] : await serversFor(name, discovery);
  const failures = await Promise.all(candidates.map((server) => discovery.discover(server, traceId)));
  const found = table.find(name);
  if (found) return ok(found);
  const failure = failures.find((one) => one !== undefined);
  if (failure) return toRegistryResult({ success: false, error: { ...failure, tool: name, outcome: 'not_sent' } });
  const isMalformed = name.includes('__') && !parseToolName(name).success;
  return isMalformed ? parseName(name) : notFound(table, name);
}

/** Why a name is none. */
function parseName(name: string): RegistryResult<never> {
  const parsed = parseToolName(name);
  return parsed.success ? refuse('VALIDATION_ERROR', 'That is not the name of a tool.') : parsed;
}

/** Servers whose list is due and may hold a tool of this name. */
async function serversFor(name: string, discovery: ToolDiscovery): Promise<string[]> {
  const written = new Set([...readingsOf(name)].map(({ server }) => server));
  if (written.size === 0) return [];
  const names = await (await discovery.servers()).serverNames();
  return names.filter(
    (server) => discovery.isStale(server) && (written.has(server) || name.startsWith(prefixOf(server))),
  );
}

/** What the names of a server's tools begin with. */
const prefixOf = (server: string): string =>
  createNameTable([{ server, name: '' }]).nameOf({ server, tool: '' }) ?? `${server}__`;

function notFound(table: ToolTable, name: string): RegistryResult<never> {
  const suggestions = nearestNames(
    name,
    table.entries.map((entry) => entry.name),
  );
  const quoted = suggestions.map((one) => `"${one}"`).join(', ');
  const hint = suggestions.length > 0 ? ` Did you mean ${quoted}?` : '';
  return refuse('TOOL_NOT_FOUND', `There is no tool "${shorten(name, 100)}".${hint}`, { tool: name, suggestions });
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
  const args = readArguments(tool, sent);
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
    throw new DiscoveryError('CANCELLED', `The call of ${shorten(String(tool), 100)} was cancelled.`, {
      tool,
      outcome,
    });
  }
}
