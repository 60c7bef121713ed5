/**
 * Shows one downstream server to agents as it is: its tools, prompts and resources under their own names. Calls, reads
 * and prompts still take the whole pipeline (rules, validation, limits, audit); everything else is relayed, without what
 * the rules disable.
 * @module
 */
import { ProtocolError, Server, type ServerContext } from '@modelcontextprotocol/server';
import { META } from '../connections/handshake.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { causeOf } from '../core/result.ts';
import type { Caller, ItemRef } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { coreOf, type EngineHandle } from '../engine/engine-handle.ts';
import { isObject } from '../json/plain-object.ts';
import { failure } from '../meta-tools/answers.ts';
import { toUpstreamCall, type UpstreamIdentity } from './sdk-context.ts';
import type { ChangeNotifier, Surface } from './serve-stdio.ts';
import { ownMeta, type UpstreamCall, type UpstreamHandler } from './upstream.ts';
import { WatchedResources } from './watched-resources.ts';

type Params = Readonly<Record<string, unknown>>;

/** Relayed requests, by the capability they need. */
const RELAYED: Readonly<Record<string, readonly string[]>> = {
  prompts: ['prompts/list', 'prompts/get'],
  resources: ['resources/list', 'resources/templates/list', 'resources/read'],
  completions: ['completion/complete'],
};
/** Relayed requests of the old protocol only. */
const RELAYED_LEGACY: Readonly<Record<string, readonly string[]>> = {
  logging: ['logging/setLevel'],
};
/** Notifications of a server that its client should receive. */
const HEARD = new Set([
  'notifications/message',
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
  'notifications/elicitation/complete',
]);

/** Shows one server 1:1. */
export function exposedSurface(handle: EngineHandle, name: string): Surface {
  const engine = coreOf(handle);
  const watched = new WatchedResources(engine, name);
  return {
    relays: true,
    listen: (params) => {
      // What the server or a rule refuses stays silent: the SDK has answered the client.
      const stops = urisIn(params).map((uri) => watched.watch(uri).catch(() => () => {}));
      return () => {
        for (const stop of stops) void stop.then((end) => end());
      };
    },
    run: async (tool, args, { caller, ...context }) => {
      const result = await engine.call({
        server: name,
        tool,
        arguments: args,
        caller: { ...caller, exclusive: true },
        ...context,
      });
      if (result.success) return result.data;
      throwCause(result.error);
      if (result.error.code === 'TOOL_NOT_FOUND') throw new JsonRpcError(INVALID_PARAMS, `Unknown tool: ${tool}`);
      return failure(result.error);
    },
    createServer: (handler, identity) => createExposedServer(engine, name, handler, identity),
    relayChanges: (notify) => relayChanges(engine, name, notify),
  };
}

const relayChanges = (engine: EngineCore, name: string, notify: ChangeNotifier): (() => void) =>
  engine.connections.onNotification((server, method, params) => {
    if (server !== name) return;
    if (method === 'notifications/tools/list_changed') notify.toolsChanged();
    else if (method === 'notifications/prompts/list_changed') notify.promptsChanged();
    else if (method === 'notifications/resources/list_changed') notify.resourcesChanged();
    else if (method === 'notifications/resources/updated' && typeof params.uri === 'string')
      notify.resourceUpdated(params.uri);
  });

/** The resources that a client listens to. */
const urisIn = ({ notifications }: Params): string[] => {
  const { resourceSubscriptions: uris } = Object(notifications) as Params;
  return Array.isArray(uris) ? [...new Set(uris)].filter((uri) => typeof uri === 'string') : [];
};

async function createExposedServer(
  engine: EngineCore,
  name: string,
  handler: UpstreamHandler,
  identity: UpstreamIdentity,
): Promise<Server> {
  const { capabilities, serverInfo, instructions } = await introduce(engine, name);
  const server = new Server({ name, version: '0', ...serverInfo } as never, {
    capabilities: capabilities as never,
    ...(instructions !== undefined && { instructions }),
  });
  // The SDK types handlers per method; a relay registers them in a loop.
  const setHandler = server.setRequestHandler.bind(server) as unknown as (
    method: string,
    handler: (request: { params?: Params }, context: ServerContext) => Promise<unknown>,
  ) => void;
  const on = (method: string, answer: (params: Params | undefined, context: ServerContext) => Promise<unknown>) =>
    setHandler(method, (request, context) => asProtocolError(() => answer(request.params, context)));
  if (capabilities.tools) {
    on('tools/list', async () => ({ tools: await listTools(engine, name) }));
    on('tools/call', (params, context) =>
      handler({
        ...toUpstreamCall(server, identity, params, context),
        onNotification: notifier(server, identity, context),
      }),
    );
  }
  const relayed = identity.era === 'legacy' ? [RELAYED, RELAYED_LEGACY] : [RELAYED];
  for (const [capability, methods] of relayed.flatMap((table) => Object.entries(table))) {
    if (!capabilities[capability]) continue;
    for (const method of methods)
      on(method, (params, context) => {
        const call = toUpstreamCall(server, identity, params, context);
        const answer = method === 'resources/read' || method === 'prompts/get' ? read : relay;
        return answer(engine, name, method, call, notifier(server, identity, context));
      });
  }
  if (identity.era === 'legacy' && capabilities.resources) subscriptions(engine, name, server, identity, on);
  // Over HTTP, a server of the new era lives as long as one request; `relayChanges` serves those.
  else if (identity.session !== undefined) server.onclose = relayChanges(engine, name, notifierOf(server));
  return server;
}

/** Lets a client of the old protocol subscribe to resources over its own connection. */
function subscriptions(
  engine: EngineCore,
  name: string,
  server: Server,
  identity: UpstreamIdentity,
  on: (method: string, answer: (params: Params | undefined, context: ServerContext) => Promise<unknown>) => void,
): void {
  const watched = new WatchedResources(engine, name);
  on('resources/subscribe', async (params, context) => {
    const call = toUpstreamCall(server, identity, params, context);
    const uri = String(call.params.uri);
    if (!watched.has(uri)) await watched.watch(uri, callerOf(call), notifier(server, identity, context));
    return {};
  });
  on('resources/unsubscribe', async (params) => {
    watched.unwatch(String(params?.uri));
    return {};
  });
  server.onclose = () => watched.close();
}

/** Announces changes to the client of one server; the SDK passes on those that the client listens to. */
const notifierOf = (server: Server): ChangeNotifier => {
  const sent = (sending: Promise<void>): void => void sending.catch(() => {});
  return {
    toolsChanged: () => sent(server.sendToolListChanged()),
    promptsChanged: () => sent(server.sendPromptListChanged()),
    resourcesChanged: () => sent(server.sendResourceListChanged()),
    resourceUpdated: (uri) => sent(server.sendResourceUpdated({ uri })),
  };
};

/** Reads a resource or gets a prompt through the whole pipeline. */
async function read(
  engine: EngineCore,
  name: string,
  _method: string,
  call: UpstreamCall,
  onNotification: (method: string, params: Params) => void,
): Promise<unknown> {
  const { params, revision, signal, onProgress } = call;
  const item = itemIn(params);
  if (!item) throw new JsonRpcError(INVALID_PARAMS, 'The URI or the name is missing.');
  const result = await engine.items.read(name, item, {
    arguments: params.arguments,
    caller: { ...callerOf(call), revision },
    signal,
    onProgress,
    onNotification,
    meta: ownMeta(params._meta),
    inputResponses: params.inputResponses as Params | undefined,
    requestState: params.requestState as string | undefined,
  });
  if (result.success) return withoutStamp(result.data);
  throwCause(result.error);
  const { code, message } = result.error;
  throw new JsonRpcError(code.startsWith('TOOL_') ? INVALID_PARAMS : INTERNAL_ERROR, message, { code });
}

/** What a request is about: the resource or prompt that it, or the reference in it, names. */
function itemIn({ uri, name, ref }: Params): ItemRef | undefined {
  if (typeof uri === 'string') return { kind: 'resource', id: uri };
  if (typeof name === 'string') return { kind: 'prompt', id: name };
  return isObject(ref) ? itemIn(ref) : undefined;
}

/** A protocol error of the server stays a protocol error. */
function throwCause(error: ErrorInfo): void {
  const cause = causeOf(error);
  if (cause instanceof JsonRpcError) throw cause;
}

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
  exclusive: true,
  acceptsInputRequired: era === 'modern',
});

/** Relays one request, its answer, and the notifications in between. */
async function relay(
  engine: EngineCore,
  name: string,
  method: string,
  call: UpstreamCall,
  notify: (method: string, params: Params) => void,
): Promise<unknown> {
  const { capabilities, signal, onProgress } = call;
  const item = itemIn(call.params);
  const { enabled = true, reason = '', code } = item ? await engine.items.decide(name, item) : {};
  if (!enabled) throw new JsonRpcError(INVALID_PARAMS, reason, { code });
  const lease = await engine.connections.lease(name, callerOf(call), signal);
  let unanswered = false;
  try {
    const { connection } = lease;
    connection.onNotification = notify;
    const { _meta, ...params } = call.params as { _meta?: Params };
    const meta = {
      ...ownMeta(_meta),
      ...(connection.era === 'modern' && { [META.clientCapabilities]: capabilities }),
    };
    const { result } = await connection.request(
      method,
      Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params,
      { signal, onProgress },
    );
    return withoutStamp(await usableOnly(engine, name, result));
  } catch (error) {
    unanswered = !(error instanceof JsonRpcError);
    throw error;
  } finally {
    lease.release({ unanswered });
  }
}

/** Leaves out of a page what the rules disable, and what is not approved. */
async function usableOnly(engine: EngineCore, name: string, page: Params): Promise<Params> {
  const lists = Object.entries(IDS).filter(([list]) => Array.isArray(page[list]));
  if (lists.length === 0) return page;
  const named = lists.map(([list, id]) => [
    list,
    (page[list] as unknown[]).filter((entry) => isObject(entry) && typeof entry[id] === 'string'),
  ]);
  const usable: Params = { ...(await engine.items.usable(name, Object.fromEntries(named))) };
  return { ...page, ...Object.fromEntries(lists.map(([list]) => [list, usable[list]])) };
}

/** The lists of what is no tool, and what identifies an entry. */
const IDS = { resources: 'uri', resourceTemplates: 'uriTemplate', prompts: 'name' } as const;

async function introduce(engine: EngineCore, name: string) {
  const lease = await engine.connections.lease(name, {});
  try {
    const { connection } = lease;
    connection.subscribe({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
    return connection.identity;
  } finally {
    lease.release();
  }
}

async function listTools(engine: EngineCore, name: string) {
  const listed = await engine.definitionsOf(name);
  if (!listed.success) throw new JsonRpcError(INTERNAL_ERROR, listed.error.message, { code: listed.error.code });
  return listed.data;
}

/** Sends a server's notifications to this client: with the related request, or over its session. */
function notifier(
  server: Server,
  identity: UpstreamIdentity,
  context: ServerContext,
): (method: string, params: Params) => void {
  const { notify } = context.mcpReq;
  return (method, params) => {
    if (!HEARD.has(method)) return;
    const sent =
      identity.era === 'modern' || method === 'notifications/message'
        ? notify({ method, params } as never)
        : server.notification({ method, params } as never);
    // The client may have disconnected; its request notices.
    sent.catch(() => {});
  };
}

async function asProtocolError(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof JsonRpcError) throw new ProtocolError(error.code, error.message, error.data);
    throw error;
  }
}

function withoutStamp(result: Params): Params {
  const { [META.serverInfo]: _stamp, ...meta } = (result._meta ?? {}) as Record<string, unknown>;
  const { _meta, ...rest } = result;
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
}
