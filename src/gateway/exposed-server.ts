/**
 * Shows one downstream server to agents as it is: its tools, prompts and resources under their own names. Calls, reads
 * and prompts still take the whole pipeline (rules, validation, limits, audit); everything else is relayed, without what
 * the rules disable. A client with a session has one connection to the server, for everything.
 * @module
 */
import { Server } from '@modelcontextprotocol/server';
import type { ServerIdentity } from '../connections/handshake.ts';
import { META } from '../connections/handshake.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import { headerMismatch } from '../connections/param-headers.ts';
import type { Caller, CallToolResult, ItemRef, ToolDefinition } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import { isObject } from '../json/plain-object.ts';
import { failure } from '../meta-tools/answers.ts';
import type { CallContext } from '../meta-tools/run-tool.ts';
import { ClientSubscriptions } from './client-subscriptions.ts';
import { ExposedClient, levelIn, tellOf, type View } from './exposed-client.ts';
import { readItem, requireItem, throwCause } from './item-requests.ts';
import { RecentViews } from './recent-views.ts';
import { handlersOf, type UpstreamIdentity } from './sdk-context.ts';
import type { Surface } from './serve-stdio.ts';
import { ownMeta, type UpstreamCall, type UpstreamHandler } from './upstream.ts';
import { urisIn, WatchedResources, watchEach, withAllowed } from './watched-resources.ts';

type Params = Readonly<Record<string, unknown>>;
type OnRequest = (method: string, answer: (call: UpstreamCall) => Promise<unknown>) => void;

/** Relayed requests, by the capability they need. */
const RELAYED: Readonly<Record<string, readonly string[]>> = {
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
  completions: ['completion/complete'],
};
/** Requests that take the whole pipeline, by the capability they need. */
const READS: Readonly<Record<string, string>> = { prompts: 'prompts/get', resources: 'resources/read' };
/** The capabilities that are relayed, and what is kept of each. */
const CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  tools: ['listChanged'],
  prompts: ['listChanged'],
  resources: ['listChanged', 'subscribe'],
  completions: [],
  logging: [],
  // MCP Apps consist of resources and of `_meta` of tools.
  extensions: ['io.modelcontextprotocol/ui'],
};

/** Shows one server 1:1. */
export function exposedSurface(handle: EngineHandle, name: string): Surface {
  const relay = new ExposedServer(coreOf(handle), name);
  return {
    relays: true,
    listen: (params, caller) => relay.listen(params, caller),
    mayHear: (params, caller) => relay.mayHear(params, caller),
    run: (tool, args, context) => relay.run(tool, args, context),
    createServer: (handler, identity) => relay.createServer(handler, identity),
    relayChanges: (notify, { principal }) =>
      relay.engine.connections.onNotification((server, method, params, owner) => {
        if (server === name && (owner === undefined || owner === principal)) tellOf(method, params, notify);
      }),
    headerFault: (params, headers, identity) => relay.headerFault(params, headers, identity),
  };
}

/** A client with a session, and what it sees. */
interface Session {
  readonly client: ExposedClient;
  readonly view: View;
}

class ExposedServer {
  readonly engine: EngineCore;
  readonly #name: string;
  readonly #watched: WatchedResources;
  readonly #sessions = new Map<string, Session>();
  /** What clients without sessions see. */
  readonly #views = new RecentViews();

  constructor(engine: EngineCore, name: string) {
    this.engine = engine;
    this.#name = name;
    this.#watched = new WatchedResources(engine, name);
  }

  listen(params: Params, caller: Caller): () => void {
    const client = this.#sessions.get(caller.session ?? '')?.client;
    // A refusal is not reported: the SDK has already accepted the subscription.
    return watchEach(urisIn(params), (uri) => this.#watched.watch(uri, client?.caller ?? caller, client?.hear));
  }

  mayHear(params: Params, caller: Caller): Promise<Params> {
    return withAllowed(params, (uri) => requireItem(this.engine, this.#name, { kind: 'resource', id: uri }, caller));
  }

  async run(tool: string, args: unknown, { caller, ...context }: CallContext): Promise<CallToolResult> {
    const session = this.#sessions.get(caller.session ?? '');
    const view = session?.view ?? this.#views.of(caller);
    const call = () =>
      this.engine.call({
        ...context,
        server: this.#name,
        tool,
        arguments: args,
        definition: view?.tools.get(tool),
        caller: { ...caller, exclusive: true },
        meta: session ? session.client.metaFor(session.view.identity, context.meta) : context.meta,
        onNotification: context.onNotification ?? session?.client.hear,
      });
    // A call on the fast lane was not registered by `createServer`.
    const request = { notify: undefined, level: levelIn(context.meta), ask: caller.ask };
    const result = await (session && !context.onNotification ? session.client.during(request, call) : call());
    if (result.success) return result.data;
    throwCause(result.error);
    if (result.error.code === 'TOOL_NOT_FOUND') throw new JsonRpcError(INVALID_PARAMS, `Unknown tool: ${tool}`);
    return failure(result.error);
  }

  /** Says why the headers of a call do not match its arguments, if the tool requires such headers. */
  async headerFault({ name, arguments: args }: Params, headers: Headers, caller: Caller): Promise<string | undefined> {
    if (typeof name !== 'string') return undefined;
    const schema = (this.#views.of(caller)?.tools.get(name) ?? (await this.#definition(name, caller)))?.inputSchema;
    return schema && headerMismatch(schema, isObject(args) ? args : {}, headers);
  }

  async #definition(tool: string, caller: Caller): Promise<ToolDefinition | undefined> {
    const found = await this.engine.definitionOf(this.#name, tool, { caller: { ...caller, exclusive: true } });
    return found.success ? found.data : undefined;
  }

  async createServer(handler: UpstreamHandler, identity: UpstreamIdentity): Promise<Server> {
    const client = new ExposedClient(this.engine, this.#name, identity);
    const view = await this.#introduce(client);
    const { connections } = this.engine;
    const { serverInfo, instructions } = await connections.introduction(this.#name, view.identity, client.caller);
    const capabilities = relayable(view.identity.capabilities);
    const server = new Server({ name: this.#name, version: '0', ...serverInfo } as never, {
      capabilities: capabilities as never,
      ...(instructions !== undefined && { instructions }),
    });
    client.attach(server);
    const { session } = identity;
    if (session !== undefined) this.#sessions.set(session, { client, view });
    const set = handlersOf(server, identity);
    const on: OnRequest = (method, answer) =>
      set(method, (asked, context) => {
        const call = { ...asked, onNotification: client.hear };
        const notify = (name: string, about: Params): void =>
          void context.mcpReq.notify({ method: name, params: about } as never).catch(() => {});
        return client.during({ notify, level: levelIn(call.params._meta), ask: call.ask }, () => answer(call));
      });
    if (capabilities.tools) {
      on('tools/list', async (call) => ({ tools: await this.#listTools(client, view, call) }));
      on('tools/call', (call) => handler(call));
    }
    for (const [capability, methods] of Object.entries(RELAYED))
      for (const method of capabilities[capability] ? methods : [])
        on(method, (call) => this.#relay(client, view, method, call));
    for (const [capability, method] of Object.entries(READS))
      if (capabilities[capability])
        on(method, (call) => handler(call, (context) => this.#read(client, view, call, context)));
    const subscriptions = new ClientSubscriptions();
    if (identity.era === 'legacy') {
      if (capabilities.logging) on('logging/setLevel', (call) => this.#setLevel(client, view, call));
      // Over the client's own connection.
      const watched = new WatchedResources(this.engine, this.#name);
      if (capabilities.resources)
        subscriptions.serve(on, (uri, call) => watched.watch(uri, client.callerOf(call), client.hear));
    }
    server.onclose = () => {
      subscriptions.close();
      if (session !== undefined && this.#sessions.get(session)?.client === client) this.#sessions.delete(session);
    };
    return server;
  }

  /** Learns how the server introduces itself to this client. */
  async #introduce(client: ExposedClient): Promise<View> {
    const { caller } = client;
    const known = caller.session === undefined ? this.#views.of(caller) : undefined;
    if (known) return known;
    const { connection, release } = await client.lease(caller);
    release();
    const view = { identity: connection.identity, tools: new Map() };
    if (caller.session === undefined) this.#views.keep(caller, view);
    return view;
  }

  async #listTools(client: ExposedClient, view: View, call: UpstreamCall): Promise<readonly ToolDefinition[]> {
    const caller = client.callerOf(call);
    const listed = await this.engine.connections.tools(this.#name, caller, () => client.lease(caller, call.signal));
    if (!listed.success) throw new JsonRpcError(INTERNAL_ERROR, listed.error.message, { code: listed.error.code });
    view.tools.clear();
    for (const tool of listed.data) view.tools.set(tool.name, tool);
    return listed.data;
  }

  async #setLevel(client: ExposedClient, view: View, call: UpstreamCall): Promise<unknown> {
    client.setLevel(call.params.level);
    return view.identity.era === 'legacy' ? this.#relay(client, view, 'logging/setLevel', call) : {};
  }

  /** Reads a resource or gets a prompt through the whole pipeline. */
  async #read(client: ExposedClient, view: View, call: UpstreamCall, context: CallContext): Promise<Params> {
    const { params } = call;
    const item = itemIn(params);
    if (!item) throw new JsonRpcError(INVALID_PARAMS, 'The URI or the name is missing.');
    const result = await readItem(this.engine, this.#name, item, {
      ...context,
      arguments: params.arguments,
      caller: { ...context.caller, exclusive: true },
      meta: client.metaFor(view.identity, context.meta),
    });
    return withoutStamp(result);
  }

  /** Relays one request, its answer, and the notifications in between. */
  async #relay(client: ExposedClient, { identity }: View, method: string, call: UpstreamCall): Promise<unknown> {
    const { capabilities, signal, onProgress } = call;
    const caller = client.callerOf(call);
    const item = itemIn(call.params);
    if (item) await requireItem(this.engine, this.#name, item, caller);
    const lease = await client.lease(caller, signal);
    let unanswered = false;
    try {
      const { connection } = lease;
      const { _meta, ...params } = call.params;
      const meta = {
        ...client.metaFor(identity, ownMeta(_meta)),
        ...(connection.era === 'modern' && { [META.clientCapabilities]: capabilities }),
      };
      const { result } = await connection.request(
        method,
        Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params,
        { signal, onProgress },
      );
      return withoutStamp(await this.#usableOnly(result, caller));
    } catch (error) {
      unanswered = !(error instanceof JsonRpcError);
      throw error;
    } finally {
      lease.release({ unanswered });
    }
  }

  /** Leaves out of a page what the rules disable, and what is not approved. */
  async #usableOnly(page: Params, caller: Caller): Promise<Params> {
    const lists = Object.entries(IDS).filter(([list]) => Array.isArray(page[list]));
    if (lists.length === 0) return page;
    const named = lists.map(([list, id]) => [
      list,
      (page[list] as unknown[]).filter((entry) => isObject(entry) && typeof entry[id] === 'string'),
    ]);
    const usable: Params = { ...(await this.engine.items.usable(this.#name, Object.fromEntries(named), { caller })) };
    return { ...page, ...Object.fromEntries(lists.map(([list]) => [list, usable[list]])) };
  }
}

/** Keeps of a server's capabilities what is relayed. */
function relayable(capabilities: ServerIdentity['capabilities']): Record<string, Record<string, unknown>> {
  const kept: Record<string, Record<string, unknown>> = {};
  for (const [name, parts] of Object.entries(CAPABILITIES)) {
    const given = capabilities[name];
    if (!isObject(given)) continue;
    const own = Object.fromEntries(parts.flatMap((part) => (part in given ? [[part, given[part]]] : [])));
    if (name !== 'extensions' || Object.keys(own).length > 0) kept[name] = own;
  }
  return kept;
}

/** The resource or prompt that a request names, directly or in its `ref`. */
function itemIn({ uri, name, ref }: Params): ItemRef | undefined {
  if (typeof uri === 'string') return { kind: 'resource', id: uri };
  if (typeof name === 'string') return { kind: 'prompt', id: name };
  return isObject(ref) ? itemIn(ref) : undefined;
}

/** The lists of resources, templates and prompts, with the key that identifies an entry. */
const IDS = { resources: 'uri', resourceTemplates: 'uriTemplate', prompts: 'name' } as const;

function withoutStamp(result: Params): Params {
  const { [META.serverInfo]: _stamp, ...meta } = (result._meta ?? {}) as Record<string, unknown>;
  const { _meta, ...rest } = result;
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}
