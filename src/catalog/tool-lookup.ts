/**
 * Names in, tools out: finds the tool somebody meant, discovers its server on first need, and says what is nearest to
 * a name that does not exist.
 * @module
 */
import type { DiscoveryError } from '../errors.ts';
import { fail, ok, type ToolResult } from '../result.ts';
import type { Caller, ServerDefinition, ToolDefinition, ToolMetadata, ToolRef } from '../types.ts';
import type { Catalog } from './catalog.ts';
import type { Discovery } from './discovery.ts';
import { nearest } from './nearest.ts';
import { readingsOf, resolveToolRef } from './tool-name.ts';

export interface FoundTool {
  readonly definition: ToolDefinition;
  readonly metadata: ToolMetadata;
}

export interface LookupState {
  readonly servers: ReadonlyMap<string, { readonly definition: ServerDefinition }>;
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  /** Servers that are configured and switched off. */
  readonly switchedOff: ReadonlySet<string>;
}

/** The pair that was meant by a server and a tool as an agent wrote them. */
export function resolveRef({ servers, catalog }: LookupState, server: string, tool: string): ToolRef {
  if (servers.has(server) && catalog.definition(server, tool)) return { server, tool };
  return resolveToolRef(
    server,
    tool,
    (name) => servers.has(name),
    (ref) => !catalog.isLoaded(ref.server) || catalog.definition(ref.server, ref.tool) !== undefined,
  );
}

/** Fails with SERVER_NOT_FOUND and the nearest names unless the server is configured and switched on. */
export function requireServer({ servers, switchedOff }: LookupState, server: string): ToolResult<ServerDefinition> {
  const known = servers.get(server);
  if (known) return ok(known.definition);
  const suggestions = nearest(server, servers.keys());
  const hint = suggestions.length > 0 ? `Did you mean ${quoted(suggestions)}?` : 'list_mcp_servers shows all servers.';
  const message = switchedOff.has(server)
    ? `The server "${server}" is switched off in the configuration.`
    : `There is no server "${server}". ${hint}`;
  return fail('SERVER_NOT_FOUND', message, { server, suggestions, outcome: 'not_sent' });
}

/** Makes sure that a server's tools are in memory, discovering it if nobody ever has. */
export async function requireTools(
  state: LookupState,
  server: string,
  caller?: Caller,
): Promise<ToolResult<ServerDefinition>> {
  const known = requireServer(state, server);
  if (!known.success) return known;
  const { catalog, discovery } = state;
  if (!catalog.isLoaded(server)) await catalog.load(server);
  if (catalog.isSeen(server) || (await discovery.refresh(server, caller))) return known;
  return { success: false, error: (discovery.failure(server) as DiscoveryError).toInfo() };
}

/** The tool of that name, wherever its separator was put; or TOOL_NOT_FOUND with the nearest names. */
export async function requireTool(state: LookupState, ref: ToolRef, caller?: Caller): Promise<ToolResult<FoundTool>> {
  const listed = await requireTools(state, ref.server, caller);
  if (!listed.success) return { success: false, error: { ...listed.error, tool: ref.tool } };
  const found = findTool(state, ref);
  if (found) return ok(found);
  // The list may be older than the tool; a server that is only known from the configuration may have more.
  if (mayBeOutOfDate(state, ref.server) && (await state.discovery.refresh(ref.server, caller))) {
    const fresh = findTool(state, ref);
    if (fresh) return ok(fresh);
  }
  return notFound(state, ref);
}

function findTool({ catalog }: LookupState, { server, tool }: ToolRef): FoundTool | undefined {
  const names = [
    tool,
    ...[...readingsOf(tool)].filter((reading) => reading.server === server).map((reading) => reading.tool),
  ];
  for (const name of names) {
    const definition = catalog.definition(server, name);
    const metadata = catalog.tool(server, name);
    if (definition && metadata) return { definition, metadata };
  }
  return undefined;
}

function mayBeOutOfDate({ catalog, discovery }: LookupState, server: string): boolean {
  return catalog.fetchedAt(server) === 0 || discovery.isOld(server);
}

function notFound({ catalog, servers }: LookupState, { server, tool }: ToolRef): ToolResult<never> {
  const suggestions = nearest(
    tool,
    catalog.tools(server).map(({ name }) => name),
  );
  const elsewhere =
    suggestions.length > 0
      ? []
      : [...servers.keys()].filter((other) => other !== server && catalog.tool(other, tool)?.enabled);
  const hint =
    suggestions.length > 0
      ? `Did you mean ${quoted(suggestions)}?`
      : elsewhere.length > 0
        ? `${quoted(elsewhere.slice(0, 3))} has one of that name.`
        : '';
  return fail(
    'TOOL_NOT_FOUND',
    `${server} has no tool "${tool}". ${hint} list_tools with server "${server}" shows all of them.`.replace('  ', ' '),
    {
      server,
      tool,
      suggestions: suggestions.length > 0 ? suggestions : elsewhere.slice(0, 3).map((other) => `${other}:${tool}`),
      outcome: 'not_sent',
    },
  );
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
