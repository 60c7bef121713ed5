/**
 * Shows several servers to agents, each under its own name, instead of the five meta-tools or beside them: for clients
 * that search among tools themselves, and for MCP Apps. Lists come from the catalogue; calls, reads and prompts take the
 * whole pipeline. Connections are shared as they are behind the five tools, so log messages are not passed on.
 * @module
 */
import { Server } from '@modelcontextprotocol/server';
import { INTERNAL_ERROR, INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolResult } from '../core/result.ts';
import type { Caller, CallToolResult, ServerItems, ToolDefinition } from '../core/types.ts';
import { IDENTITY } from '../core/version.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import { isObject } from '../json/plain-object.ts';
import { failure } from '../meta-tools/answers.ts';
import type { CallContext, RunTool } from '../meta-tools/run-tool.ts';
import { ClientSubscriptions } from './client-subscriptions.ts';
import { notifierOf } from './exposed-client.ts';
import {
  exposedName,
  exposedUri,
  isApp,
  type OwnName,
  ownNames,
  ownUri,
  withExposedLinks,
  withExposedUri,
} from './exposed-names.ts';
import { readItem, requireItem, throwCause } from './item-requests.ts';
import { handlersOf, type UpstreamIdentity } from './sdk-context.ts';
import type { ChangeNotifier, Surface } from './serve-stdio.ts';
import type { UpstreamCall, UpstreamHandler } from './upstream.ts';
import { urisIn, WatchedResources, watchEach, withAllowed } from './watched-resources.ts';

type Params = Readonly<Record<string, unknown>>;

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
};

/** Which servers are shown, and to whom. */
export interface Exposed {
  names(caller: Caller): Promise<readonly string[]>;
  includes(server: string, caller: Caller): boolean;
}

/** Tools of the gateway that come first. */
export interface Beside {
  readonly run: RunTool;
  includes(tool: string, caller: Caller): Promise<boolean>;
  listTools(caller: Caller): Promise<readonly ToolDefinition[]>;
  instructions(caller: Caller): string | undefined;
}

/** Shows several servers under their own names. */
export const exposedServersSurface = (handle: EngineHandle, names: readonly string[]): Surface =>
  surfaceOf(coreOf(handle), { names: async () => names, includes: (server) => names.includes(server) });

/** Shows each caller its servers, and the tools beside them. */
export function surfaceOf(engine: EngineCore, exposed: Exposed, beside?: Beside): Surface {
  const shown = new ExposedServers(engine, exposed, beside);
  return {
    listen: (params, caller) => shown.listen(params, caller),
    mayHear: (params, caller) => shown.mayHear(params, caller),
    run: (tool, args, context) => shown.run(tool, args, context),
    createServer: (handler, identity) => shown.createServer(handler, identity),
    relayChanges: (notify, caller) => shown.relayChanges(notify, caller),
  };
}

class ExposedServers {
  readonly #engine: EngineCore;
  readonly #exposed: Exposed;
  readonly #beside: Beside | undefined;
  readonly #watched = new Map<string, WatchedResources>();

  constructor(engine: EngineCore, exposed: Exposed, beside: Beside | undefined) {
    this.#engine = engine;
    this.#exposed = exposed;
    this.#beside = beside;
  }

  /** Passes on changes of the servers that a caller sees. */
  relayChanges(notify: ChangeNotifier, caller: Caller): () => void {
    const isShown = (server: string) => this.#exposed.includes(server, caller);
    const stopLists = this.#engine.onToolsChanged((server, isFor) => {
      if (server !== undefined && !(isShown(server) && isFor(caller))) return;
      notify.toolsChanged();
      notify.promptsChanged();
      notify.resourcesChanged();
    });
    const stopUpdates = this.#engine.connections.onNotification((server, method, { uri }, owner) => {
      if (owner !== undefined && owner !== caller.principal) return;
      if (method === 'notifications/resources/updated' && typeof uri === 'string' && isShown(server))
        notify.resourceUpdated(exposedUri(server, uri));
    });
    return () => {
      stopLists();
      stopUpdates();
    };
  }

  listen(params: Params, caller: Caller): () => void {
    return watchEach(urisIn(params), (uri) => this.#watch(uri, caller));
  }

  mayHear(params: Params, caller: Caller): Promise<Params> {
    return withAllowed(params, async (exposed) => {
      const { server, name } = await this.#resource(exposed, caller);
      await requireItem(this.#engine, server, { kind: 'resource', id: name }, caller);
    });
  }

  async #watch(exposed: string, caller: Caller): Promise<() => void> {
    const { server, name } = await this.#resource(exposed, caller);
    const watched = this.#watched.get(server) ?? new WatchedResources(this.#engine, server);
    this.#watched.set(server, watched);
    return watched.watch(name, caller);
  }

  async run(exposed: string, args: unknown, context: CallContext): Promise<CallToolResult> {
    if (await this.#beside?.includes(exposed, context.caller))
      return (this.#beside as Beside).run(exposed, args, context);
    const found = await this.#tool(exposed, context.caller);
    if (!found) throw new JsonRpcError(INVALID_PARAMS, `Unknown tool: ${exposed}`);
    const { server, name } = found;
    const result = await this.#engine.call({ ...context, server, tool: name, arguments: args });
    if (result.success)
      return { ...result.data, content: withExposedLinks(server, result.data.content) } as CallToolResult;
    throwCause(result.error);
    return failure(result.error);
  }

  async #tool(exposed: string, caller: Caller): Promise<OwnName | undefined> {
    const readings = ownNames(await this.#exposed.names(caller), exposed);
    if (readings.length < 2) return readings[0];
    for (const reading of readings)
      if ((await this.#engine.definitionOf(reading.server, reading.name, { caller })).success) return reading;
    return readings[0];
  }

  async createServer(handler: UpstreamHandler, identity: UpstreamIdentity): Promise<Server> {
    const who = whoIs(identity);
    const instructions = this.#beside?.instructions(who);
    const server = new Server(IDENTITY, { capabilities: CAPABILITIES, ...(instructions && { instructions }) });
    const on = handlersOf(server, identity);
    on('tools/list', async (call) => page('tools', await this.#tools(callerOf(call)), call));
    on('tools/call', (call) => handler(call));
    on('resources/list', async (call) => page('resources', await this.#items('resources', callerOf(call)), call));
    on('resources/templates/list', async (call) =>
      page('resourceTemplates', await this.#items('resourceTemplates', callerOf(call)), call),
    );
    on('prompts/list', async (call) => page('prompts', await this.#items('prompts', callerOf(call)), call));
    on('resources/read', (call) => handler(call, (context) => this.#readResource(String(call.params.uri), context)));
    on('prompts/get', (call) => handler(call, (context) => this.#getPrompt(call.params, context)));
    on('completion/complete', (call) => this.#complete(call));
    const subscriptions = new ClientSubscriptions();
    if (identity.era === 'legacy') subscriptions.serve(on, (uri, call) => this.#watch(uri, callerOf(call)));
    // Clients without sessions hear of changes through `relayChanges` of the surface.
    const notify = notifierOf(server);
    const stop =
      identity.session === undefined
        ? undefined
        : this.relayChanges(
            {
              ...notify,
              resourceUpdated: (uri) => {
                if (identity.era === 'modern' || subscriptions.has(uri)) notify.resourceUpdated(uri);
              },
            },
            who,
          );
    server.onclose = () => {
      stop?.();
      subscriptions.close();
    };
    return server;
  }

  async #tools(caller: Caller): Promise<readonly ToolDefinition[]> {
    const first = (await this.#beside?.listTools(caller)) ?? [];
    const reading = this.#lists(caller, (server) => this.#engine.definitionsOf(server, { caller }));
    // If no server can be listed, the tools of the gateway are still shown.
    const lists = await (first.length > 0 ? reading.catch(() => []) : reading);
    const taken = new Set(first.map(({ name }) => name));
    const exposed = lists.flatMap(([server, tools]) =>
      tools.map((tool) => ({ ...tool, name: exposedName(server, tool.name) })),
    );
    return [...first, ...exposed.filter(({ name }) => !taken.has(name))];
  }

  async #items(kind: keyof ServerItems, caller: Caller): Promise<readonly Params[]> {
    const lists = await this.#lists(caller, (server) => this.#engine.items.list(server, { caller }));
    return lists.flatMap(([server, items]) =>
      items[kind].map((entry: Params) =>
        kind === 'prompts'
          ? { ...entry, name: exposedName(server, String(entry.name)) }
          : withExposedUri(server, entry),
      ),
    );
  }

  /** Lists of all servers. One that cannot be listed is left out, unless none can. */
  async #lists<T>(caller: Caller, list: (server: string) => Promise<ToolResult<T>>): Promise<(readonly [string, T])[]> {
    const names = await this.#exposed.names(caller);
    const listed = await Promise.all(names.map(async (server) => [server, await list(server)] as const));
    const good = listed.flatMap(([server, result]) => (result.success ? [[server, result.data] as const] : []));
    const failed = listed.flatMap(([, result]) => (result.success ? [] : [result.error]));
    if (good.length === 0 && failed[0])
      throw new JsonRpcError(INTERNAL_ERROR, failed[0].message, { code: failed[0].code });
    return good;
  }

  /** Finds the server of a resource. The URI of an app says nothing about its server. */
  async #resource(exposed: string, caller: Caller): Promise<OwnName> {
    const wrapped = ownUri(await this.#exposed.names(caller), exposed);
    if (wrapped) return wrapped;
    const owners = isApp(exposed) ? await this.#ownersOf(exposed, caller) : [];
    const [server, other] = owners;
    if (server === undefined) throw new JsonRpcError(INVALID_PARAMS, `There is no resource ${exposed}.`);
    if (other !== undefined)
      throw new JsonRpcError(INVALID_PARAMS, `${exposed} is a resource of ${owners.join(' and ')}. Expose only one.`);
    return { server, name: exposed };
  }

  async #ownersOf(uri: string, caller: Caller): Promise<readonly string[]> {
    const listed = await this.#lists(caller, (server) => this.#engine.items.list(server, { caller }));
    const owners = listed.filter(([, { resources }]) => resources.some((one) => one.uri === uri));
    if (owners.length > 0) return owners.map(([server]) => server);
    // A server need not list the resources of its apps: its tools name them.
    const tools = await this.#lists(caller, (server) => this.#engine.definitionsOf(server, { caller }));
    return tools.filter(([, list]) => list.some((tool) => appOf(tool) === uri)).map(([server]) => server);
  }

  async #readResource(exposed: string, context: CallContext): Promise<Params> {
    const { server, name } = await this.#resource(exposed, context.caller);
    const result = await readItem(this.#engine, server, { kind: 'resource', id: name }, context);
    const { contents } = result;
    if (!Array.isArray(contents)) return result;
    return { ...result, contents: contents.map((one) => (isObject(one) ? withExposedUri(server, one) : one)) };
  }

  async #getPrompt({ name: exposed, arguments: args }: Params, context: CallContext): Promise<Params> {
    const { server, name } = await this.#prompt(String(exposed), context.caller);
    const result = await readItem(this.#engine, server, { kind: 'prompt', id: name }, { ...context, arguments: args });
    const { messages } = result;
    if (!Array.isArray(messages)) return result;
    const withLinks = messages.map((one) =>
      isObject(one) ? { ...one, content: withExposedLinks(server, one.content) } : one,
    );
    return { ...result, messages: withLinks };
  }

  async #prompt(exposed: string, caller: Caller): Promise<OwnName> {
    const readings = ownNames(await this.#exposed.names(caller), exposed);
    for (const { server, name } of readings) {
      const listed = readings.length > 1 ? await this.#engine.items.list(server, { caller }) : undefined;
      if (!listed || (listed.success && listed.data.prompts.some((one) => one.name === name))) return { server, name };
    }
    throw new JsonRpcError(INVALID_PARAMS, `There is no prompt ${exposed}.`);
  }

  async #complete(call: UpstreamCall): Promise<Params> {
    const { ref, _meta, ...params } = call.params;
    const caller = callerOf(call);
    const { uri, name: prompt } = Object(ref) as Params;
    const isResource = typeof uri === 'string';
    const { server, name } = isResource
      ? await this.#resource(uri, caller)
      : await this.#prompt(String(prompt), caller);
    const kind = isResource ? 'resource' : 'prompt';
    await requireItem(this.#engine, server, { kind, id: name }, caller);
    const { connection, release } = await this.#engine.connections.lease(server, caller, call.signal);
    try {
      const own = isResource ? { ...Object(ref), uri: name } : { ...Object(ref), name };
      const { result } = await connection.request(
        'completion/complete',
        { ...params, ref: own },
        { signal: call.signal },
      );
      return result;
    } finally {
      release();
    }
  }
}

/** The resource that shows the results of a tool, in the old and the new spelling of MCP Apps. */
function appOf({ _meta }: ToolDefinition): unknown {
  const { ui, 'ui/resourceUri': old } = Object(_meta) as Params;
  return Object(ui).resourceUri ?? old;
}

const whoIs = ({ principal, profile }: UpstreamIdentity): Caller => ({ principal, profile });

const callerOf = ({
  era,
  principal,
  profile,
  session,
  socket,
  clientName,
  capabilities,
  ask,
}: UpstreamCall): Caller => ({
  ...{ principal, profile, session, socket, clientName, capabilities, ask },
  acceptsInputRequired: era === 'modern',
});

/** A page of a list, with the cursor of the next. */
function page(list: string, entries: readonly unknown[], { params: { cursor } }: UpstreamCall): Params {
  const from = Number(cursor ?? 0);
  if (!Number.isSafeInteger(from) || from < 0) throw new JsonRpcError(INVALID_PARAMS, 'This cursor is not ours.');
  const next = from + LIMITS.wire.page;
  return { [list]: entries.slice(from, next), ...(next < entries.length && { nextCursor: String(next) }) };
}
