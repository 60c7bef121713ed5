/**
 * Represents one client of an exposed server: its connection, the notifications it gets, and how to ask it questions.
 * @module
 */
import type { Server } from '@modelcontextprotocol/server';
import { abortable } from '../async/abortable.ts';
import type { CallSignal } from '../async/cancellation.ts';
import type { Lease } from '../connections/connection-pool.ts';
import { META, type ServerIdentity } from '../connections/handshake.ts';
import type { Caller, ToolDefinition } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import type { Ask } from './parked-calls.ts';
import type { UpstreamIdentity } from './sdk-context.ts';
import type { ChangeNotifier } from './serve-stdio.ts';
import { canBeAsked } from './upstream.ts';

type Params = Readonly<Record<string, unknown>>;
type Hear = (method: string, params: Params) => void;

/** A request that is being answered. */
interface OpenRequest {
  /** Sends a notification that belongs to the request. */
  readonly notify: Hear | undefined;
  /** The level of log messages that a client of the new protocol wants with this request. */
  readonly level: unknown;
  /** Asks the client while the request is open. */
  readonly ask: Ask | undefined;
}

/** What a server shows to a client: how it introduced itself, and the tools it listed last. */
export interface View {
  readonly identity: ServerIdentity;
  readonly tools: Map<string, ToolDefinition>;
}

/** From the least to the most serious. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
/** The log level that a server of the new protocol is asked for until the client has set one. */
const DEFAULT_LEVEL = 'info';

export class ExposedClient {
  readonly identity: UpstreamIdentity;
  readonly #engine: EngineCore;
  readonly #name: string;
  readonly #open = new Set<OpenRequest>();
  #server: Server | undefined;
  #level: unknown = DEFAULT_LEVEL;
  /** How to ask a client of the old protocol while it has no open request: through its last one. */
  #lastAsk: Ask | undefined;
  readonly #waiting = new Set<(ask: Ask) => void>();

  constructor(engine: EngineCore, name: string, identity: UpstreamIdentity) {
    this.#engine = engine;
    this.#name = name;
    this.identity = identity;
  }

  /** The caller of requests other than calls of tools, and before any request. */
  get caller(): Caller {
    return this.callerOf(this.identity);
  }

  /** The caller of one request, whose capabilities may differ from those of the first. */
  callerOf({ era, principal, profile, session, socket, clientName, capabilities = {} }: UpstreamIdentity): Caller {
    return {
      ...{ principal, profile, session, socket, clientName, capabilities },
      ...(canBeAsked(capabilities) && { ask: this.#ask }),
      exclusive: true,
      acceptsInputRequired: era === 'modern',
    };
  }

  /** Asks through an open request of the client; if there is none, waits for the next one. */
  readonly #ask: Ask = async (request, signal) => (await abortable(this.#nextAsk(), signal))(request, signal);

  #nextAsk(): Promise<Ask> {
    const open = [...this.#open].flatMap(({ ask }) => ask ?? []).at(-1) ?? this.#lastAsk;
    return open ? Promise.resolve(open) : new Promise((resolve) => void this.#waiting.add(resolve));
  }

  /** Connects the client's end, which is built after the server has introduced itself. */
  attach(server: Server): void {
    this.#server = server;
  }

  /** Leases the client's own connection to the server. */
  async lease(caller: Caller, signal?: CallSignal): Promise<Lease> {
    const lease = await this.#engine.connections.lease(this.#name, caller, signal);
    lease.connection.onNotification = this.hear;
    return lease;
  }

  /** Runs the work of one request. Meanwhile, the server's log messages and questions belong to this request. */
  async during<T>(request: OpenRequest, work: () => Promise<T>): Promise<T> {
    const { ask } = request;
    this.#open.add(request);
    if (ask && this.identity.era === 'legacy') this.#lastAsk = ask;
    if (ask) for (const resolve of this.#waiting) resolve(ask);
    if (ask) this.#waiting.clear();
    try {
      return await work();
    } finally {
      this.#open.delete(request);
    }
  }

  /** Sets the level of log messages for a client of the old protocol. */
  setLevel(level: unknown): void {
    this.#level = level;
  }

  /** The `_meta` of a request to the server: one of the new protocol learns the log level with each request. */
  metaFor(identity: ServerIdentity, meta: Params | undefined): Params | undefined {
    if (identity.era === 'legacy' || this.identity.era === 'modern' || !identity.capabilities.logging) return meta;
    return { [META.logLevel]: this.#level, ...meta };
  }

  /** Passes on the server's notifications. */
  readonly hear: Hear = (method, params) => {
    const server = this.#server;
    if (method === 'notifications/message') return this.#log(params);
    // A client without a session hears of changes through its subscriptions.
    if (server === undefined || this.identity.session === undefined) return;
    if (method === 'notifications/elicitation/complete') sent(server.notification({ method, params } as never));
    else tellOf(method, params, notifierOf(server));
  };

  #log(params: Params): void {
    const { era } = this.identity;
    const request = [...this.#open].filter(({ level }) => era === 'legacy' || isWanted(params.level, level)).at(-1);
    if (request?.notify) request.notify('notifications/message', params);
    else if ((request || era === 'legacy') && this.#server)
      sent(this.#server.notification({ method: 'notifications/message', params } as never));
  }
}

/** The level that a request asks for. */
export const levelIn = (meta: unknown): unknown => Object(meta)[META.logLevel];

const isWanted = (level: unknown, wanted: unknown): boolean =>
  LEVELS.includes(wanted as string) && LEVELS.indexOf(level as string) >= LEVELS.indexOf(wanted as string);

/** Ignores failures: if the client has disconnected, its request ends anyway. */
const sent = (sending: Promise<void>): void => void sending.catch(() => {});

/** Announces changes to the client of one server; the SDK passes on those that the client listens to. */
export const notifierOf = (server: Server): ChangeNotifier => ({
  toolsChanged: () => sent(server.sendToolListChanged()),
  promptsChanged: () => sent(server.sendPromptListChanged()),
  resourcesChanged: () => sent(server.sendResourceListChanged()),
  resourceUpdated: (uri) => sent(server.sendResourceUpdated({ uri })),
});

/** Announces a change of the server, if the notification is one. */
export function tellOf(method: string, { uri }: Params, notify: ChangeNotifier): void {
  if (method === 'notifications/tools/list_changed') notify.toolsChanged();
  else if (method === 'notifications/prompts/list_changed') notify.promptsChanged();
  else if (method === 'notifications/resources/list_changed') notify.resourcesChanged();
  else if (method === 'notifications/resources/updated' && typeof uri === 'string') notify.resourceUpdated(uri);
}
