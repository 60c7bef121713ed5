/**
 * Finds the tool behind a name, lists its server on first use, and suggests the nearest names for an unknown one.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import { fail, ok, type ToolResult } from '../core/result.ts';
import { isProvider, type ProviderDefinition, type SourceDefinition, UNDESCRIBED } from '../core/tool-provider.ts';
import type { Caller, ToolDefinition, ToolMetadata, ToolRef } from '../core/types.ts';
import type { ToolPolicy } from '../rules/tool-policy.ts';
import { nearestNames } from '../text/nearest-names.ts';
import { shorten } from '../text/plain-text.ts';
import { serverVariable } from '../text/server-variable.ts';
import type { Catalog } from './catalog.ts';
import type { Discovery } from './discovery.ts';
import { signature } from './signature.ts';
import { readingsOf, resolveToolRef } from './tool-name.ts';

interface FoundTool {
  readonly definition: ToolDefinition;
  readonly metadata: ToolMetadata;
}

export interface LookupState {
  readonly servers: ReadonlyMap<string, { readonly definition: SourceDefinition }>;
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  /** Servers that are configured but disabled. */
  readonly switchedOff: ReadonlySet<string>;
  /** Why there are no servers at all, if discovery is disabled. */
  readonly offReason?: string | undefined;
  /** Asks a provider for a definition that its list left out. */
  readonly describe?: ((source: ProviderDefinition, listed: ToolDefinition) => Promise<ToolDefinition>) | undefined;
}

type DecidingState = LookupState & { readonly policy: Pick<ToolPolicy, 'decide'> };

/** Resolves a server and a tool as an agent wrote them. */
export function resolveRef({ servers, catalog }: LookupState, server: string, tool: string): ToolRef {
  if (servers.has(server) && catalog.definition(server, tool)) return { server, tool };
  // An own tool may also be called by its name alone.
  if (server === '')
    for (const [name, { definition }] of servers)
      if (isProvider(definition) && catalog.definition(name, tool)) return { server: name, tool };
  return resolveToolRef(
    server,
    tool,
    (name) => servers.has(name) || name === OWN_SERVER,
    (ref) => !catalog.isLoaded(ref.server) || catalog.definition(ref.server, ref.tool) !== undefined,
  );
}

/** The caller and its timeout. */
export interface Patience {
  readonly caller?: Caller | undefined;
  readonly signal?: CallSignal | undefined;
  /** Milliseconds. */
  readonly timeout?: number | undefined;
}

/**
 * Like `resolveRef`, for a server whose list may not be in memory. A server without a list is asked if the name is
 * ambiguous: rules, audit log and call must mean the same tool.
 */
export async function settleRef(
  state: LookupState,
  server: string,
  tool: string,
  options: Patience = {},
): Promise<ToolRef> {
  const { servers, catalog, discovery } = state;
  const { server: name, tool: written } = resolveRef(state, server, tool);
  if (!servers.has(name) || catalog.isLoaded(name)) return resolveRef(state, server, tool);
  await catalog.load(name);
  if (!catalog.isLoaded(name) && !readingsOf(written).next().done)
    await patiently(discovery.listedInTime(name, options.caller), options);
  return resolveRef(state, server, tool);
}

/** Fails with SERVER_NOT_FOUND and the nearest names unless the server is configured and enabled. */
export function requireServer(
  { servers, switchedOff, offReason }: LookupState,
  server: string,
): ToolResult<SourceDefinition> {
  const known = servers.get(server);
  if (known) return ok(known.definition);
  if (offReason !== undefined) return fail('SERVER_NOT_FOUND', offReason, { server, outcome: 'not_sent' });
  if (switchedOff.has(server)) {
    const message = `The server "${server}" is disabled. A person can enable it: remove "enabled": false from the configuration, or unset ${serverVariable(server, 'MCP_ENABLED')}.`;
    return fail('SERVER_NOT_FOUND', message, { server, outcome: 'not_sent' });
  }
  const suggestions = nearestNames(server, servers.keys());
  const hint = suggestions.length > 0 ? `Did you mean ${quoted(suggestions)}?` : 'list_mcp_servers shows all servers.';
  const message = `There is no server "${shorten(server, 100)}". ${hint}`;
  return fail('SERVER_NOT_FOUND', message, { server, suggestions, outcome: 'not_sent' });
}

/** Loads a server's tools into memory, listing the server if it has no list yet. */
export async function requireTools(
  state: LookupState,
  server: string,
  caller?: Caller,
): Promise<ToolResult<SourceDefinition>> {
  const known = requireServer(state, server);
  if (!known.success) return known;
  const { catalog, discovery } = state;
  if (!catalog.isLoaded(server)) await catalog.load(server);
  if (catalog.isSeen(server)) return known;
  const failure = await discovery.listedInTime(server, caller);
  if (catalog.isSeen(server)) return known;
  if (failure) return { success: false, error: failure.toInfo() };
  const message = `The tools of ${server} could not be read: the configuration is being replaced, or the engine is closing. Call again.`;
  return fail('SERVER_UNAVAILABLE', message, { server, outcome: 'not_sent' });
}

/** Finds a tool by name, or fails with TOOL_NOT_FOUND and the nearest names. */
export async function requireTool(state: LookupState, ref: ToolRef, caller?: Caller): Promise<ToolResult<FoundTool>> {
  const listed = await requireTools(state, ref.server, caller);
  // The call was not sent, whatever went wrong while listing.
  if (!listed.success) return { success: false, error: { ...listed.error, tool: ref.tool, outcome: 'not_sent' } };
  const found = findTool(state, ref);
  if (found) return ok(await described(state, ref, found));
  // The list may be older than the tool, and a configured list may be incomplete.
  if (!mayBeOutOfDate(state, ref.server, caller)) return notFound(state, ref);
  await state.discovery.listedInTime(ref.server, caller);
  const fresh = findTool(state, ref);
  return fresh ? ok(await described(state, ref, fresh)) : notFound(state, ref);
}

/** Like `requireTool`, but fails with TOOL_DISABLED or TOOL_NOT_APPROVED for a tool that may not be used. */
export async function requireUsableTool(
  state: DecidingState,
  ref: ToolRef,
  caller?: Caller,
): Promise<ToolResult<FoundTool>> {
  const first = await requireTool(state, ref, caller);
  const found = mayBeBack(state, ref, first) ? await lookAgain(state, ref, caller) : first;
  if (!found.success) return found;
  const { enabled, reason, code } = state.policy.decide(ref.server, found.data.definition);
  if (enabled) return found;
  const message = code === 'TOOL_NOT_APPROVED' ? reason : `${ref.server}:${ref.tool} may not be used. ${reason}`;
  return fail(code ?? 'TOOL_DISABLED', message, { ...ref, outcome: 'not_sent' });
}

/** True for a tool that has changed since it was approved, and may be as it was again since its server was asked. */
function mayBeBack({ servers, policy, discovery }: DecidingState, ref: ToolRef, found: ToolResult<FoundTool>): boolean {
  const source = servers.get(ref.server)?.definition;
  if (!found.success || source === undefined || isProvider(source) || source.approval === undefined) return false;
  const { approval, code } = policy.decide(ref.server, found.data.definition);
  return code === 'TOOL_NOT_APPROVED' && approval !== 'pending' && discovery.isWorthASecondLook(ref.server);
}

async function lookAgain(state: DecidingState, ref: ToolRef, caller?: Caller): Promise<ToolResult<FoundTool>> {
  await state.discovery.listedInTime(ref.server, caller);
  return requireTool(state, ref, caller);
}

function findTool({ catalog }: LookupState, { server, tool }: ToolRef): FoundTool | undefined {
  const definition = catalog.definition(server, tool);
  const metadata = catalog.tool(server, tool);
  return definition && metadata && { definition, metadata };
}

/** Finds a tool in memory at once; otherwise falls back to `requireTool`. */
function lookUpTool(
  state: LookupState,
  ref: ToolRef,
  caller?: Caller,
): ToolResult<FoundTool> | Promise<ToolResult<FoundTool>> {
  const found = state.servers.has(ref.server) ? findTool(state, ref) : undefined;
  return found && found.definition.inputSchema !== UNDESCRIBED ? ok(found) : requireTool(state, ref, caller);
}

/** Like `lookUpTool`, for callers that need only the definition. Looks twice at a tool that is not approved any more. */
export function lookUpDefinition(
  state: DecidingState,
  ref: ToolRef,
  caller?: Caller,
): ToolResult<ToolDefinition> | Promise<ToolResult<ToolDefinition>> {
  const first = lookUpTool(state, ref, caller);
  const found = !(first instanceof Promise) && mayBeBack(state, ref, first) ? lookAgain(state, ref, caller) : first;
  return found instanceof Promise ? found.then(toDefinition) : toDefinition(found);
}

const toDefinition = (found: ToolResult<FoundTool>) => (found.success ? ok(found.data.definition) : found);

/** Adds the schema of a tool that its provider listed without one. */
async function described(
  { servers, describe }: LookupState,
  { server }: ToolRef,
  found: FoundTool,
): Promise<FoundTool> {
  const source = servers.get(server)?.definition;
  if (found.definition.inputSchema !== UNDESCRIBED || !describe || !source || !isProvider(source)) return found;
  const definition = await describe(source, found.definition);
  const { inputSchema, outputSchema } = definition;
  return { definition, metadata: { ...found.metadata, signature: signature(inputSchema), inputSchema, outputSchema } };
}

function mayBeOutOfDate({ catalog, discovery }: LookupState, server: string, caller: Caller | undefined): boolean {
  if (catalog.fetchedAt(server) === 0 || discovery.isOld(server)) return true;
  // Some servers hide tools that ask questions from clients that cannot answer.
  return caller?.ask !== undefined && catalog.state(server)?.interactive !== true;
}

function notFound(state: LookupState, { server, tool }: ToolRef): ToolResult<never> {
  const { catalog, servers } = state;
  const here = catalog.tools(server).map(({ name }) => name);
  const nearest = nearestNames(tool, here);
  const elsewhere = [...servers.keys()].filter((other) => other !== server && catalog.tool(other, tool)?.enabled);
  const others = nearest.length > 0 ? [] : elsewhere.slice(0, 3);
  const hints = [
    nearest.length > 0 && `Did you mean ${quoted(nearest)}?`,
    others.length > 0 && `${quoted(others)} has one of that name.`,
    `list_tools with server "${server}" shows all of them.`,
  ];
  return fail(
    'TOOL_NOT_FOUND',
    [`${server} has no tool "${shorten(tool, 100)}".`, ...hints].filter(Boolean).join(' '),
    {
      server,
      tool,
      suggestions: [...nearest, ...others.map((other) => `${other}:${tool}`)],
      outcome: 'not_sent',
    },
  );
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Waits for the work, until the caller cancels or its timeout passes. */
export async function patiently(work: Promise<unknown>, { signal, timeout }: Patience): Promise<void> {
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const timer = timeout === undefined ? undefined : setTimeout(stop, timeout);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  await Promise.race([work, stopped]);
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
}
