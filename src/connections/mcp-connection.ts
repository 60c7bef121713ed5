/**
 * A live downstream server: list its tools, call them, put its questions to whoever is calling.
 * @module
 */

import type { CallSignal } from '../async/cancellation.ts';
import { elapsedNow } from '../async/clock.ts';
import { withTimeLimit } from '../async/time-limit.ts';
import { DiscoveryError, ToolExecutionError, ToolNotFoundError } from '../core/errors.ts';
import { UnheededError } from '../core/result.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import type { Caller, CallToolResult, IdleClock, ToolCall, ToolDefinition } from '../core/types.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import { answerQuestions } from './answer-questions.ts';
import { explainFailure } from './explain-failure.ts';
import { META, type ProtocolEra, type ServerIdentity } from './handshake.ts';
import type { Pulse } from './hung-servers.ts';
import { INVALID_PARAMS, JsonRpcError, METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION } from './json-rpc.ts';
import { paramHeaders } from './param-headers.ts';
import { type Answer, ForgottenError, type IncomingRequest, type Peer, type PeerRequestOptions } from './peer.ts';
import { Respondent } from './respondent.ts';
import { sentence, shortText } from './short-text.ts';
import { StillKnown } from './still-known.ts';
import { readToolList, type ToolList, type ToolListLimits } from './tool-list.ts';

/** Rounds of questions one call of a modern server may ask. */
const MAX_ROUNDS = 10;
const MAX_MESSAGE = 4000;
/** A connection younger than this, on which no call was answered yet, is never proof that a call was not looked at. */
const SETTLED_MS = 10_000;

export interface McpConnectionOptions {
  readonly server: string;
  /** Whether the server is a child process of ours. */
  readonly isLocal: boolean;
  /** Whether a request can carry headers of its own. */
  readonly sendsHeaders: boolean;
  readonly peer: Peer;
  readonly identity: ServerIdentity;
  readonly limits: ToolListLimits & { readonly listPageMs: number; readonly listMs: number };
  /** Whether we have told a server of the old protocol that it may ask something. */
  readonly mayAsk: boolean;
  /** Why the server ended, in words, once it has. */
  readonly obituary: () => string | undefined;
  /** The end of what the server wrote to stderr. */
  readonly log: () => string;
  /** Takes secrets out of what the server says when something goes wrong. */
  readonly redact?: Redact | undefined;
}

export class McpConnection implements ToolProvider<ToolCall> {
  readonly server: string;
  readonly identity: ServerIdentity;
  /** Notifications other than progress; set by whoever relays them. */
  onNotification: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
  readonly #options: McpConnectionOptions;
  readonly #redact: Redact;
  readonly #respondent: Respondent;
  readonly #stillKnown: StillKnown;
  readonly #openedAt = elapsedNow();
  /** When the last of the callers that have set a time of their own stops waiting. */
  #patientUntil = 0;
  /** Whether a call was ever answered here. */
  #hasServed = false;
  #tools: ReadonlyMap<string, ToolDefinition> | undefined;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.server = options.server;
    this.identity = options.identity;
    this.#redact = options.redact ?? redactUnknown;
    const { peer, identity, isLocal } = options;
    this.#respondent = new Respondent(peer, options.mayAsk);
    this.#stillKnown = new StillKnown({ peer, era: identity.era, isLocal });
  }

  /** Who answers what a server of the old protocol asks over this connection. Set by the pool. */
  get asker(): Caller['ask'] {
    return this.#respondent.asker;
  }

  set asker(ask: Caller['ask']) {
    this.#respondent.asker = ask;
  }

  /** Whether a caller was ever asked over this connection. The server may have kept what it answered. */
  get wasAsked(): boolean {
    return this.#respondent.wasAsked;
  }

  /** What a caller has answered, if that was nothing but the same roots whenever it was asked. */
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

  /** What shows whether the server is alive. */
  get pulse(): Pulse {
    const { peer } = this.#options;
    const isWaiting = peer.isAwaited && !this.#respondent.questions.isOpen;
    return { received: peer.received, isWaiting, patientUntil: this.#patientUntil };
  }

  /** Asks for a sign of life. Resolves whatever the answer is; never without one. */
  async ping(): Promise<void> {
    const method = this.era === 'modern' ? 'server/discover' : 'ping';
    const { signal } = new AbortController();
    await this.#options.peer.request(method, {}, { signal }).catch(() => {});
  }

  get log(): string {
    return this.#options.log();
  }

  /** The whole list with what was left out and why. Rejects with a `DiscoveryError`, or the signal's reason. */
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

  async listToolMetadata(): Promise<readonly ToolDefinition[]> {
    return (await this.listTools()).tools;
  }

  async getTool(name: string): Promise<ToolDefinition | undefined> {
    if (!this.#tools) await this.listTools();
    return this.#tools?.get(name);
  }

  /** Runs a tool. The context is the call on its way through the pipeline: who asks, its deadline, trace and progress. */
  callTool(name: string, args: ToolCall['arguments'], call: ToolCall): Promise<CallToolResult> {
    const modern = this.era === 'modern';
    if (call.deadline !== undefined && call.deadline > this.#patientUntil) this.#patientUntil = call.deadline;
    const { ask, acceptsInputRequired, capabilities = {} } = call.caller;
    const meta = modern
      ? { ...call.meta, [META.clientCapabilities]: ask || acceptsInputRequired ? capabilities : {} }
      : call.meta;
    // `_meta` has its place also where there is none: every call is copied with one, and V8 is slow to copy and add.
    const params: Record<string, unknown> = { name, arguments: args, _meta: meta };
    if (call.inputResponses) params.inputResponses = call.inputResponses;
    if (call.requestState !== undefined) params.requestState = call.requestState;
    const options = {
      signal: call.signal,
      onProgress: call.onProgress,
      headers: modern && this.#options.sendsHeaders ? this.#headers(call) : undefined,
      caller: callerKey(call.caller),
    };
    if (modern) return this.#callInRounds(call, params, options);
    return this.#respondent.isBeginning ? this.#callFirst(call, params, options) : this.#call(call, params, options);
  }

  /** Sends a call as soon as the server has been told what it asked at its start. */
  async #callFirst(
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    await this.#respondent.begin(call.signal, call.idleClock);
    return this.#call(call, params, options);
  }

  /** A modern server may ask before it answers; the answers go along with the same call. */
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
      if (round >= MAX_ROUNDS)
        throw new ToolExecutionError(call.server, call.tool, `asked for input more than ${MAX_ROUNDS} times`, {
          outcome: 'unknown',
        });
      const { requestState: _, ...rest } = params;
      const inputResponses = await answerQuestions(call, result.inputRequests);
      const { requestState } = result;
      params = { ...rest, inputResponses, ...(requestState !== undefined && { requestState }) };
    }
  }

  /** A further round of a call that the server has begun to work on: it may not be begun anew as if it had not left. */
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

  /** Sends any request and resolves with the raw result; failures are `DiscoveryError`s except error answers (`JsonRpcError`). */
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

  notify(method: string, params?: Readonly<Record<string, unknown>>): void {
    this.#options.peer.notify(method, params);
  }

  /** Asks a modern server to tell us about changes. Old servers do so unasked. */
  subscribe(filter: Readonly<Record<string, unknown>>): void {
    if (this.era !== 'modern') return;
    // Stays open as long as the connection; a server that refuses just sends no news, and lists age as usual.
    this.#options.peer.request('subscriptions/listen', { notifications: filter }).catch(() => {});
  }

  close(reason?: Error): Promise<void> {
    return this.#options.peer.close(reason);
  }

  /** Answers what the server asks: the caller's agent does, or nobody. */
  answer(request: IncomingRequest): Promise<Record<string, unknown>> {
    return this.#respondent.answer(request);
  }

  /** Takes back what the server has asked: nobody is left who could answer. */
  withdrawQuestions(): void {
    this.#respondent.withdraw();
  }

  /** Where the server may ask, what it works on is remembered. */
  #send(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
    idleClock: IdleClock | undefined,
  ): Promise<Answer> {
    const answer = this.#options.peer.request(method, params, options);
    const { asker, questions } = this.#respondent;
    return asker === undefined ? answer : questions.during(answer, idleClock);
  }

  async #call(
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    try {
      const { result, bytes } = await this.#send('tools/call', params, options, call.idleClock);
      if (call.notes) call.notes.bytes = bytes;
      this.#hasServed = true;
      return result as CallToolResult;
    } catch (error) {
      const lost = await this.#lost(error, options.signal);
      if (lost && !isAnswer(error)) throw lost.details.outcome === 'not_sent' ? unheeded(lost) : lost;
      if (!(error instanceof JsonRpcError)) throw this.#explain(error, options.signal);
      if (error.code === INVALID_PARAMS && saysUnknownTool(error.message)) {
        const message = `${call.server} no longer has a tool "${call.tool}".`;
        throw new ToolNotFoundError(call.server, call.tool, message, { outcome: 'failed' });
      }
      const message = this.#redact.cut(error.message, MAX_MESSAGE);
      throw new ToolExecutionError(call.server, call.tool, message, { outcome: 'failed', cause: error });
    }
  }

  /**
   * The error of a request that was refused because the server knows us no more; the connection is over then. Whoever
   * opens the next one is told anew which protocol the server speaks. A connection made a moment ago proves nothing: a
   * server that refuses whatever it has executed would get the call again and again.
   */
  async #lost(error: unknown, signal: CallSignal | undefined): Promise<DiscoveryError | undefined> {
    if (signal?.aborted || !this.#stillKnown.isDoubtful(error) || (await this.#stillKnown.ask())) return undefined;
    const { server, identity } = this;
    const isVersion = identity.era === 'modern' || error instanceof JsonRpcError;
    const why = isVersion ? `no longer speaks protocol ${identity.protocolVersion} with us` : 'has ended the session';
    void this.close(new ForgottenError(`it ${why}`));
    const isSettled = this.#hasServed || elapsedNow() - this.#openedAt >= SETTLED_MS;
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
      // A server of prompts or resources only has no tools, and that is a fine answer.
      if (error.code === METHOD_NOT_FOUND && cursor === undefined) return { tools: [] };
      const message = sentence(`${this.server} could not list its tools: ${shortText(error.message, this.#redact)}`);
      throw new DiscoveryError('SERVER_CONNECTION_ERROR', message, {
        server: this.server,
        // It was heard and understood: asking again brings the same answer.
        retryable: false,
        outcome: 'failed',
        cause: error,
      });
    }
  }

  #overdue(ms: number): () => Error {
    const { server } = this;
    const message = `${server} did not list its tools within ${ms / 1000} s.`;
    return () => new DiscoveryError('SERVER_CONNECTION_ERROR', message, { server, outcome: 'unknown' });
  }
}

/** Tells callers apart. Clients without sessions have a socket for each call, if they like, but mostly one name. */
const callerKey = ({ session, principal, clientName, socket }: Caller): string =>
  session ?? principal ?? clientName ?? socket ?? '';

/** Whether an error is the server's own answer to a call: then the call is over, whatever else the server has forgotten. */
const isAnswer = (error: unknown): boolean =>
  error instanceof JsonRpcError && error.code !== UNSUPPORTED_PROTOCOL_VERSION;

/** A call that has left, and that the server has hardly looked at. Whoever does not send it again does not know. */
const unheeded = ({ code, message, details }: DiscoveryError): DiscoveryError =>
  new DiscoveryError(code, message, { ...details, outcome: 'unknown', cause: new UnheededError(message) });

const saysUnknownTool = (message: string): boolean => {
  const text = message.slice(0, 500).toLowerCase();
  return text.includes('unknown tool') || (text.includes('tool') && text.includes('not found'));
};

function withoutResultType({ resultType: _, ...result }: CallToolResult): CallToolResult {
  return result;
}
