/**
 * A live downstream server: list its tools, call them, put its questions to whoever is calling.
 * @module
 */
import type { CallSignal } from '../cancellation.ts';
import { DiscoveryError, type ErrorCode, type Outcome, ToolExecutionError, ToolNotFoundError } from '../errors.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import type { DownstreamTools } from '../tool-provider.ts';
import type { Caller, CallToolResult, ConnectionDefinition, IdleClock, ToolCall, ToolDefinition } from '../types.ts';
import { answerQuestions } from './answer-questions.ts';
import { META, type ProtocolEra, type ServerIdentity } from './handshake.ts';
import { HttpStatusError } from './http-refusal.ts';
import {
  INVALID_PARAMS,
  JsonRpcError,
  METHOD_NOT_FOUND,
  NotReadError,
  NotSentError,
  UnsendableError,
} from './json-rpc.ts';
import { OpenQuestions } from './open-questions.ts';
import { paramHeaders } from './param-headers.ts';
import { type Answer, type IncomingRequest, type Peer, PeerClosedError, type PeerRequestOptions } from './peer.ts';
import { sentence, shortText } from './short-text.ts';
import { withTimeLimit } from './time-limit.ts';
import { readToolList, type ToolList, type ToolListLimits } from './tool-list.ts';

/** Rounds of questions one call of a modern server may ask. */
const MAX_ROUNDS = 10;
const MAX_MESSAGE = 4000;

export interface McpConnectionOptions {
  readonly server: string;
  readonly kind: ConnectionDefinition['kind'];
  readonly peer: Peer;
  readonly identity: ServerIdentity;
  readonly limits: ToolListLimits & { readonly listPageMs: number; readonly listMs: number };
  /** Why the server ended, in words, once it has. */
  readonly obituary: () => string | undefined;
  /** The end of what the server wrote to stderr. */
  readonly log: () => string;
  /** Takes secrets out of what the server says when something goes wrong. */
  readonly redact?: Redact | undefined;
}

export class McpConnection implements DownstreamTools {
  readonly server: string;
  readonly identity: ServerIdentity;
  readonly kind: ConnectionDefinition['kind'];
  /** Who answers what a server of the old protocol asks over this connection. Set by the pool. */
  asker: Caller['ask'];
  /** Notifications other than progress; set by whoever relays them. */
  onNotification: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
  readonly #options: McpConnectionOptions;
  readonly #questions = new OpenQuestions();
  readonly #redact: Redact;
  #tools: ReadonlyMap<string, ToolDefinition> | undefined;

  constructor(options: McpConnectionOptions) {
    this.#options = options;
    this.server = options.server;
    this.kind = options.kind;
    this.identity = options.identity;
    this.#redact = options.redact ?? redactUnknown;
  }

  get era(): ProtocolEra {
    return this.identity.era;
  }

  get closed(): boolean {
    return this.#options.peer.closed;
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

  async listToolMetadata(options: { signal?: AbortSignal } = {}): Promise<readonly ToolDefinition[]> {
    return (await this.listTools(options)).tools;
  }

  async getTool(name: string): Promise<ToolDefinition | undefined> {
    if (!this.#tools) await this.listTools();
    return this.#tools?.get(name);
  }

  callTool(call: ToolCall): Promise<CallToolResult> {
    const modern = this.era === 'modern';
    const { ask, acceptsInputRequired, capabilities = {} } = call.caller;
    const meta = modern
      ? { ...call.meta, [META.clientCapabilities]: ask || acceptsInputRequired ? capabilities : {} }
      : call.meta;
    // `_meta` has its place also where there is none: every call is copied with one, and V8 is slow to copy and add.
    const params: Record<string, unknown> = { name: call.tool, arguments: call.arguments, _meta: meta };
    if (call.inputResponses) params.inputResponses = call.inputResponses;
    if (call.requestState !== undefined) params.requestState = call.requestState;
    const options = {
      signal: call.signal,
      onProgress: call.onProgress,
      headers: modern && this.kind === 'http' ? this.#headers(call) : undefined,
    };
    return modern ? this.#callInRounds(call, params, options) : this.#call(call, params, options);
  }

  /** A modern server may ask before it answers; the answers go along with the same call. */
  async #callInRounds(
    call: ToolCall,
    first: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    let params = first;
    for (let round = 0; ; round++) {
      const result = await this.#call(call, params, options);
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

  /** Sends any request and resolves with the raw result; failures are `DiscoveryError`s except error answers (`JsonRpcError`). */
  async request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions = {},
  ): Promise<{ readonly result: Readonly<Record<string, unknown>>; readonly bytes: number | undefined }> {
    try {
      return await this.#send(method, params, options, undefined);
    } catch (error) {
      throw this.#explain(error, options.signal);
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
  async answer(request: IncomingRequest): Promise<Record<string, unknown>> {
    if (!this.asker)
      throw new JsonRpcError(METHOD_NOT_FOUND, `${request.method}: no client that could answer is connected`);
    return this.#questions.put(this.asker, request);
  }

  /** Where the server may ask, what it works on is remembered. */
  #send(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
    idleClock: IdleClock | undefined,
  ): Promise<Answer> {
    const answer = this.#options.peer.request(method, params, options);
    return this.asker === undefined ? answer : this.#questions.during(answer, idleClock);
  }

  async #call(
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: PeerRequestOptions,
  ): Promise<CallToolResult> {
    try {
      const { result, bytes } = await this.#send('tools/call', params, options, call.idleClock);
      if (call.notes) call.notes.bytes = bytes;
      return result as CallToolResult;
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw this.#explain(error, options.signal);
      if (error.code === INVALID_PARAMS && saysUnknownTool(error.message)) {
        throw new ToolNotFoundError(call.server, call.tool, `${call.server} no longer has a tool "${call.tool}".`);
      }
      const message = this.#redact.cut(error.message, MAX_MESSAGE);
      throw new ToolExecutionError(call.server, call.tool, message, { outcome: 'failed', cause: error });
    }
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

  #explain(error: unknown, signal: CallSignal | undefined): unknown {
    if (error instanceof DiscoveryError || error instanceof JsonRpcError || signal?.aborted) return error;
    const { server } = this;
    const notSent = (code: ErrorCode, message: string) =>
      new DiscoveryError(code, message, { server, outcome: 'not_sent', cause: error });
    if (error instanceof NotReadError)
      return notSent('SERVER_BUSY', `${server} is too busy to be asked: ${error.message}.`);
    if (error instanceof UnsendableError)
      return notSent('TOOL_VALIDATION_ERROR', `${server} was not asked: ${error.message}.`);
    if (error instanceof NotSentError)
      return notSent('SERVER_CONNECTION_ERROR', sentence(`${server} is gone: ${error.message}`));
    const fail = (message: string, outcome: Outcome, retryable: boolean) =>
      new DiscoveryError('TOOL_EXECUTION_ERROR', message, { server, outcome, retryable, cause: error });
    // Retryable as far as the server goes; whether the call may be made twice is for the retry step to say.
    if (error instanceof PeerClosedError) {
      const how = this.#options.obituary() ?? error.message;
      return fail(`${server} ended before it answered (${how}).`, 'unknown', true);
    }
    const said = error instanceof Error ? error.message : String(error);
    const message = sentence(`${server}: ${shortText(said, this.#redact)}`);
    const isRefusal = error instanceof HttpStatusError && error.status < 500;
    return fail(message, isRefusal ? 'failed' : 'unknown', !isRefusal);
  }
}

const saysUnknownTool = (message: string): boolean => {
  const text = message.slice(0, 500).toLowerCase();
  return text.includes('unknown tool') || (text.includes('tool') && text.includes('not found'));
};

function withoutResultType({ resultType: _, ...result }: CallToolResult): CallToolResult {
  return result;
}
