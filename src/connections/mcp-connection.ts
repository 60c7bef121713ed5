/**
 * Represents a live downstream server: lists its tools, calls them, and passes its questions to the caller.
 * @module
 */

import { abortable } from '../async/abortable.ts';
import type { CallSignal } from '../async/cancellation.ts';
import { elapsedNow } from '../async/clock.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { DiscoveryError, ToolExecutionError, ToolNotFoundError } from '../core/errors.ts';
import { turnKey } from '../core/fair-share.ts';
import { LIMITS } from '../core/limits.ts';
import { UnheededError } from '../core/result.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import type { Caller, CallToolResult, IdleClock, ItemKind, ItemRef, ToolCall, ToolDefinition } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import { shorten } from '../text/plain-text.ts';
import { answerQuestions } from './answer-questions.ts';
import { explainFailure } from './explain-failure.ts';
import { META, type ProtocolEra, type ServerIdentity } from './handshake.ts';
import type { Pulse } from './hung-servers.ts';
import { type ListedItems, readItemLists } from './item-list.ts';
import {
  INVALID_PARAMS,
  JsonRpcError,
  METHOD_NOT_FOUND,
  RESOURCE_NOT_FOUND,
  UNSUPPORTED_PROTOCOL_VERSION,
} from './json-rpc.ts';
import { paramHeaders } from './param-headers.ts';
import {
  type Answer,
  ForgottenError,
  type IncomingRequest,
  LISTEN,
  type Peer,
  type PeerRequestOptions,
} from './peer.ts';
import { Respondent } from './respondent.ts';
import { sentence, shortText } from './short-text.ts';
import { StillKnown } from './still-known.ts';
import { readToolList, type ToolList, type ToolListLimits } from './tool-list.ts';
import { inVersion } from './version-retry.ts';

interface McpConnectionOptions {
  readonly server: string;
  /** Whether the server is a child process of ours. */
  readonly isLocal: boolean;
  /** Whether a request can carry headers of its own. */
  readonly sendsHeaders: boolean;
  readonly peer: Peer;
  readonly identity: ServerIdentity;
  readonly limits: ToolListLimits & { readonly listPageMs: number; readonly listMs: number };
  /** Whether a server of the old protocol was told that it may ask something. */
  readonly mayAsk: boolean;
  /** Why the server ended, once it has. */
  readonly obituary: () => string | undefined;
  /** The end of what the server wrote to stderr. */
  readonly log: () => string;
  /** Removes secrets from error texts of the server. */
  readonly redact?: Redact | undefined;
}

export class McpConnection implements ToolProvider<ToolCall> {
  readonly server: string;
  readonly identity: ServerIdentity;
  /** Receives notifications other than progress; set while a caller relays them. */
  onNotification: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
  readonly #options: McpConnectionOptions;
  readonly #redact: Redact;
  readonly #respondent: Respondent;
  readonly #stillKnown: StillKnown;
  readonly #openedAt = elapsedNow();
  /** When the last caller with its own timeout stops waiting. */
  #patientUntil = 0;
  /** Whether a call was ever answered here. */
  #hasServed = false;
  #tools: ReadonlyMap<string, ToolDefinition> | undefined;
  /** A harmless request on its way, sent with the token of the calls that wait for it. */
  #proof: Promise<void> | undefined;
  #answersProofs = true;
  /** The log level that a call has asked a server of the old protocol for. */
  #logLevel: unknown;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.server = options.server;
    this.identity = options.identity;
    this.#redact = options.redact ?? redactUnknown;
    const { peer, identity, isLocal } = options;
    this.#respondent = new Respondent(peer, options.mayAsk);
    this.#stillKnown = new StillKnown({ peer, era: identity.era, isLocal });
  }

  /** Answers the questions of a server of the old protocol over this connection. Set by the pool. */
  get asker(): Caller['ask'] {
    return this.#respondent.asker;
  }

  set asker(ask: Caller['ask']) {
    this.#respondent.asker = ask;
  }

  /** Whether a caller was ever asked over this connection. The server may have kept the answer. */
  get wasAsked(): boolean {
    return this.#respondent.wasAsked;
  }

  /** What callers have answered, if that was only the same roots each time. */
  get toldRoots(): string | undefined {
    return this.#respondent.toldRoots;
  }

  #explain(error: unknown, signal: CallSignal | undefined): unknown {
    return explainFailure(error, signal, this.server, this.#options.obituary, this.#redact);
  }

  get era(): ProtocolEra {
    return this.identity.era;
  }

  get closed(): boolean {
    return this.#options.peer.closed;
  }

  /** Signs of life of the server. */
  get pulse(): Pulse {
    const { peer } = this.#options;
    const isWaiting = peer.isAwaited && !this.#respondent.questions.isOpen;
    return { received: peer.received, isWaiting, patientUntil: this.#patientUntil };
  }

  /** Pings the server. Resolves after any answer; never without one. */
  async ping(): Promise<void> {
    const { signal } = new AbortController();
    await this.#options.peer.request(HARMLESS[this.era], {}, { signal }).catch(() => {});
  }

  get log(): string {
    return this.#options.log();
  }

  /**
   * Reads the whole list, with the reasons for entries that were left out. Rejects with a `DiscoveryError`, or the
   * signal's reason.
   */
  async listTools(options: { signal?: AbortSignal } = {}): Promise<ToolList> {
    const { limits } = this.#options;
    const list = await withTimeLimit(limits.listMs, options.signal, this.#overdue(limits.listMs), (whole) =>
      readToolList(
        (cursor) =>
          withTimeLimit(limits.listPageMs, whole, this.#overdue(limits.listPageMs), (page) => this.#page(cursor, page)),
        limits,
        this.#redact,
      ),
    );
    this.#tools = new Map(list.tools.map((tool) => [tool.name, tool]));
    return list;
  }

  /** Reads the resources, templates and prompts that the server announced. Never rejects. */
  listItems(): Promise<ListedItems> {
    const { limits, identity } = this.#options;
    return withTimeLimit(LIMITS.time.items, undefined, this.#overdue(LIMITS.time.items), (signal) =>
      readItemLists({
        capabilities: identity.capabilities,
        page: async (method, cursor) => (await this.request(method, cursor ? { cursor } : {}, { signal })).result,
        limits,
        redact: this.#redact,
      }),
    );
  }

  async listToolMetadata(): Promise<readonly ToolDefinition[]> {
    return (await this.listTools()).tools;
  }

  async getTool(name: string): Promise<ToolDefinition | undefined> {
    if (!this.#tools) await this.listTools();
    return this.#tools?.get(name);
  }

  /** Runs a tool. The context is the call on its way through the pipeline: its caller, deadline, trace and progress. */
  callTool(name: string, args: ToolCall['arguments'], call: ToolCall): Promise<CallToolResult> {
    const modern = this.era === 'modern';
    if (call.deadline !== undefined && call.deadline > this.#patientUntil) this.#patientUntil = call.deadline;
    const { ask, acceptsInputRequired, capabilities = {} } = call.caller;
    const meta = modern
      ? { ...call.meta, [META.clientCapabilities]: ask || acceptsInputRequired ? capabilities : {} }
      : call.meta;
    // `_meta` is always present, even if undefined: every call is copied with one, and V8 is slow to add a property to
    // a copy.
    const params: Record<string, unknown> = call.item
      ? { ...itemParams(call.item, args), _meta: meta }
      : { name, arguments: args, _meta: meta };
    if (call.inputResponses) params.inputResponses = call.inputResponses;
    if (call.requestState !== undefined) params.requestState = call.requestState;
    const options = {
      signal: call.signal,
      onProgress: call.onProgress,
      headers: modern && this.#options.sendsHeaders ? this.#headers(call) : undefined,
      caller: turnKey(call.caller),
    };
    if (modern) return this.#callInRounds(call, params, options);
    const level = call.meta?.[META.logLevel];
    if (level !== undefined && level !== this.#logLevel) return this.#callAtLevel(level, call, params, options);
    return this.#respondent.isBeginning ? this.#callFirst(call, params, options) : this.#call(call, params, options);
  }

  /** Sets the log level first, which a server of the old protocol takes with a request of its own. */
  async #callAtLevel(
    level: unknown,
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    this.#logLevel = level;
    const { signal } = call;
    // A level that the server refuses costs log messages, not the call.
    if (isObject(this.identity.capabilities.logging))
      await this.request('logging/setLevel', { level }, { signal }).catch(() => {});
    return this.#respondent.isBeginning ? this.#callFirst(call, params, options) : this.#call(call, params, options);
  }

  /** Sends a call after the server's questions at its start were answered. */
  async #callFirst(
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    await this.#respondent.begin(call.signal, call.idleClock);
    return this.#call(call, params, options);
  }

  /** Sends a call to a modern server, which may ask before it answers; the answers are sent with the same call. */
  async #callInRounds(
    call: ToolCall,
    first: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    let params = first;
    for (let round = 0; ; round++) {
      const result = round === 0 ? await this.#call(call, params, options) : await this.#goOn(call, params, options);
      if (result.resultType !== 'input_required') return withoutResultType(result);
      if (call.caller.acceptsInputRequired) return result;
      if (round >= LIMITS.wire.questionRounds)
        throw new ToolExecutionError(
          call.server,
          call.tool,
          `asked for input more than ${LIMITS.wire.questionRounds} times`,
          {
            outcome: 'unknown',
          },
        );
      const { requestState: _, ...rest } = params;
      const inputResponses = await answerQuestions(call, result.inputRequests);
      const { requestState } = result;
      params = { ...rest, inputResponses, ...(requestState !== undefined && { requestState }) };
    }
  }

  /**
   * Sends a further round of a call that the server works on already: it must not be repeated as if it had not been
   * sent.
   */
  async #goOn(
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    try {
      return await this.#call(call, params, options);
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error;
      const isUnheeded = error.cause instanceof UnheededError;
      if (error.details.outcome !== 'not_sent' && !isUnheeded) throw error;
      const { cause, ...details } = error.details;
      throw new DiscoveryError(error.code, error.message, {
        ...details,
        ...(!isUnheeded && { cause }),
        outcome: 'unknown',
      });
    }
  }

  /**
   * Sends any request and returns the raw result. Failures are `DiscoveryError`s, except error answers
   * (`JsonRpcError`).
   */
  async request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions = {},
  ): Promise<{ readonly result: Readonly<Record<string, unknown>>; readonly bytes: number | undefined }> {
    try {
      return await this.#send(method, params, options, undefined);
    } catch (error) {
      throw (await this.#lost(error, options.signal)) ?? this.#explain(error, options.signal);
    }
  }

  /** Subscribes to changes of a modern server. Old servers announce them without a subscription. */
  subscribe(filter: Readonly<Record<string, unknown>>): void {
    if (this.era !== 'modern') return;
    // Stays open as long as the connection. If the server refuses, lists become stale as usual.
    this.#options.peer.request(LISTEN, { notifications: filter }).catch(() => {});
  }

  /** Subscribes to one resource, in the way of the server's era. Resolves with a function that unsubscribes. */
  async watchResource(uri: string): Promise<() => void> {
    if (this.era === 'modern') {
      const listening = new AbortController();
      const notifications = { resourceSubscriptions: [uri] };
      this.#options.peer.request(LISTEN, { notifications }, { signal: listening.signal }).catch(() => {});
      return () => listening.abort();
    }
    const { signal } = new AbortController();
    await this.request('resources/subscribe', { uri }, { signal });
    return () => void this.request('resources/unsubscribe', { uri }).catch(() => {});
  }

  close(reason?: Error): Promise<void> {
    return this.#options.peer.close(reason);
  }

  /** Answers a question of the server through the caller's agent; rejects if no caller can be asked. */
  answer(request: IncomingRequest): Promise<Record<string, unknown>> {
    return this.#respondent.answer(request);
  }

  /** Withdraws the server's questions: no caller is left to answer them. */
  withdrawQuestions(): void {
    this.#respondent.withdraw();
  }

  /** Sends a request. If the server may ask, the request is remembered so that questions can be attributed to it. */
  #send(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
    idleClock: IdleClock | undefined,
  ): Promise<Answer> {
    const { peer } = this.#options;
    const answer =
      this.era === 'modern'
        ? inVersion(this.identity.protocolVersion, () => peer.request(method, params, options))
        : peer.request(method, params, options);
    const { asker, questions } = this.#respondent;
    return asker === undefined ? answer : questions.during(answer, idleClock);
  }

  async #call(
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    const { item } = call;
    if (item) this.#requireAnnounced(item.kind, call);
    else if (this.#answersProofs && this.#options.peer.needsProof) await this.#prove(options.signal);
    try {
      const { result, bytes } = await this.#send(
        item ? ITEM_METHODS[item.kind] : 'tools/call',
        params,
        options,
        call.idleClock,
      );
      if (call.notes) call.notes.bytes = bytes;
      this.#hasServed = true;
      return result as CallToolResult;
    } catch (error) {
      const lost = await this.#lost(error, options.signal);
      if (lost && !isAnswer(error)) throw lost.details.outcome === 'not_sent' ? unheeded(lost) : lost;
      if (!(error instanceof JsonRpcError)) throw this.#explain(error, options.signal);
      if (item?.kind === 'resource' && NO_RESOURCE.has(error.code)) {
        const message = `${call.server} has no resource "${shorten(item.id, LIMITS.names.shown)}": ${shortText(error.message, this.#redact)}`;
        throw new ToolNotFoundError(call.server, call.tool, sentence(message), { outcome: 'failed', cause: error });
      }
      if (error.code === INVALID_PARAMS && !item && saysUnknownTool(error.message)) {
        const message = `${call.server} no longer has a tool "${call.tool}".`;
        throw new ToolNotFoundError(call.server, call.tool, message, { outcome: 'failed' });
      }
      const message = this.#redact.cut(error.message, LIMITS.text.message);
      throw new ToolExecutionError(call.server, call.tool, message, { outcome: 'failed', cause: error });
    }
  }

  /**
   * Finds out whether the server takes the token, and has it renewed otherwise. Rejects if that is impossible; the call
   * was not sent then. Concurrent calls share one request.
   */
  #prove(signal: CallSignal | undefined): Promise<void> {
    this.#proof ??= withTimeLimit(LIMITS.time.probe, undefined, this.#overdue(LIMITS.time.probe), (limit) =>
      this.request(HARMLESS[this.era], {}, { signal: limit }),
    )
      .then(
        () => {},
        (error: unknown) => {
          // Any other answer says nothing against the token.
          if (!(error instanceof DiscoveryError)) return;
          const { code, message, details } = error;
          if (code === 'SERVER_AUTH_REQUIRED' || details.outcome === 'not_sent')
            throw new DiscoveryError(code, message, { ...details, outcome: 'not_sent' });
          // A server that does not answer such requests would slow every call down.
          this.#answersProofs = false;
        },
      )
      .finally(() => {
        this.#proof = undefined;
      });
    return abortable(this.#proof, signal);
  }

  /** A server that announced no resources or prompts is never asked for one. */
  #requireAnnounced(kind: ItemKind, { server, tool }: ToolCall): void {
    if (isObject(this.identity.capabilities[`${kind}s`])) return;
    throw new ToolNotFoundError(server, tool, `${server} has no ${kind}s.`, { outcome: 'not_sent' });
  }

  /**
   * Returns the error of a request that was refused because the server no longer knows us, and closes the connection;
   * the next one negotiates the protocol anew. A new connection proves nothing: a server that refuses requests it has
   * executed would get the call again and again.
   */
  async #lost(error: unknown, signal: CallSignal | undefined): Promise<DiscoveryError | undefined> {
    if (signal?.aborted || !this.#stillKnown.isDoubtful(error) || (await this.#stillKnown.ask())) return undefined;
    const { server, identity } = this;
    const isVersion = identity.era === 'modern' || error instanceof JsonRpcError;
    const why = isVersion ? `no longer speaks protocol ${identity.protocolVersion} with us` : 'has ended the session';
    void this.close(new ForgottenError(`it ${why}`));
    const isSettled = this.#hasServed || elapsedNow() - this.#openedAt >= LIMITS.age.settled;
    const outcome = isSettled ? 'not_sent' : error instanceof JsonRpcError ? 'failed' : 'unknown';
    return new DiscoveryError('SERVER_CONNECTION_ERROR', `${server} ${why}.`, { server, outcome });
  }

  #headers(call: ToolCall): Record<string, string> | undefined {
    return paramHeaders((call.definition ?? this.#tools?.get(call.tool))?.inputSchema, call.arguments);
  }

  async #page(cursor: string | undefined, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    try {
      return (await this.request('tools/list', cursor === undefined ? {} : { cursor }, { signal })).result;
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
      // A server with only prompts or resources has no tools, which is a valid answer.
      if (error.code === METHOD_NOT_FOUND && cursor === undefined) return { tools: [] };
      const message = sentence(`${this.server} could not list its tools: ${shortText(error.message, this.#redact)}`);
      throw new DiscoveryError('SERVER_CONNECTION_ERROR', message, {
        server: this.server,
        // The server understood the request: a retry brings the same answer.
        retryable: false,
        outcome: 'failed',
        cause: error,
      });
    }
  }

  #overdue(ms: number): () => Error {
    const { server } = this;
    const message = `${server} did not list its tools within ${ms / 1000} s.`;
    return () => {
      const cause = Object.assign(new Error(message), { code: 'ETIMEDOUT' });
      return new DiscoveryError('SERVER_CONNECTION_ERROR', message, { server, outcome: 'unknown', cause });
    };
  }
}

/** A request of each era that changes nothing. */
const HARMLESS = { legacy: 'ping', modern: 'server/discover' } as const;

const ITEM_METHODS = { resource: 'resources/read', prompt: 'prompts/get' } as const;

/** The error codes for an unknown URI. */
const NO_RESOURCE: ReadonlySet<number> = new Set([RESOURCE_NOT_FOUND, INVALID_PARAMS]);

const itemParams = ({ kind, id }: ItemRef, args: ToolCall['arguments']) =>
  kind === 'resource' ? { uri: id } : { name: id, arguments: args };

/** Tells whether an error is the server's own answer to a call: then the call is over. */
const isAnswer = (error: unknown): boolean =>
  error instanceof JsonRpcError && error.code !== UNSUPPORTED_PROTOCOL_VERSION;

/** Wraps the error of a call that was sent but probably not processed. Without a retry its outcome is unknown. */
const unheeded = ({ code, message, details }: DiscoveryError): DiscoveryError =>
  new DiscoveryError(code, message, { ...details, outcome: 'unknown', cause: new UnheededError(message) });

const saysUnknownTool = (message: string): boolean => {
  const text = message.slice(0, 500).toLowerCase();
  return text.includes('unknown tool') || (text.includes('tool') && text.includes('not found'));
};

function withoutResultType({ resultType: _, ...result }: CallToolResult): CallToolResult {
  return result;
}
