/**
 * Makes a call: server, tool and arguments through the steps listed in the constructor. Nothing a caller does throws.
 * @module
 */
import { type CallSignal, Cancellation } from '../async/cancellation.ts';
import { DiscoveryError } from '../core/errors.ts';
import { DEFAULTS } from '../core/limits.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import { fail, type ToolResult, toFailure } from '../core/result.ts';
import type { Caller, CallToolResult, Logger, Progress, RateLimit, ToolCall, ToolDefinition } from '../core/types.ts';
import { CallGates } from './call-gates.ts';
import type { BreakerOptions } from './circuit-breaker.ts';
import { EventQueue } from './event-queue.ts';
import { type Handler, pipeline, type Step } from './pipeline.ts';
import { READ_RESULT, ResultPages } from './result-pages.ts';
import { type AuditRecorder, audit } from './steps/audit.ts';
import type { CircuitBreakers } from './steps/breaker.ts';
import { type ConcurrencyOptions, concurrency } from './steps/concurrency.ts';
import { type Decide, policy } from './steps/policy.ts';
import { progress } from './steps/progress.ts';
import { rateLimit } from './steps/rate-limit.ts';
import { type Lookup, resolve } from './steps/resolve.ts';
import { type RunSteps, resultLimit } from './steps/result-limit.ts';
import { type RetryOptions, retry } from './steps/retry.ts';
import { timeout } from './steps/timeout.ts';
import { type OutputOptions, validate } from './steps/validate.ts';
import { type Clock, systemClock } from './timers.ts';
import { nextTraceId } from './trace-id.ts';
import { argumentsFault, repairArguments } from './validation/repair-arguments.ts';
import { SchemaValidators } from './validation/schema-validators.ts';

/** The part of the connections that `ToolExecutionProxy` shows. */
export interface ConnectionPort {
  connect(server: string): Promise<void>;
  disconnect(server: string): Promise<void>;
  isConnected(server: string): boolean;
}

/** A tool of the gateway itself, which calls under its own name reach. */
export interface OwnTool {
  readonly definition: ToolDefinition;
  readonly run: Handler;
}

/** What one server's entry says about calls to it. */
export interface CallSettings {
  /** Silence allowed, in ms. */
  readonly timeout?: number | undefined;
  readonly rateLimit?: RateLimit | undefined;
  readonly concurrency?: number | undefined;
}

/** Everything the proxy is built from. */
export interface ToolExecutionProxyOptions extends OutputOptions {
  /** Does the call: the last stop of the pipeline. May throw; that becomes a failure. */
  readonly invoke: Handler;
  readonly lookup: Lookup;
  readonly decide: Decide;
  readonly audit: AuditRecorder;
  readonly connections?: ConnectionPort | undefined;
  /** What a server's entry says; asked for each call. */
  readonly settingsOf?: ((server: string) => CallSettings | undefined) | undefined;
  /** Whether a call may be repeated: the operator's globs, or a trusted server's hints. */
  readonly isRepeatable?: ((call: ToolCall) => boolean) | undefined;
  readonly retry?: Omit<RetryOptions, 'isRepeatable' | 'clock' | 'random'> | undefined;
  readonly breaker?: BreakerOptions | undefined;
  readonly limits?: ExecutionLimits | undefined;
  /** Where cut results are kept; handed in so that they outlive a reload. */
  readonly pages?: ResultPages | undefined;
  /** Cuts large results in steps that leave room for others. Default: all steps at once. */
  readonly runSteps?: RunSteps | undefined;
  /** What counts calls; handed in so that those under way still count after a reload. */
  readonly gates?: CallGates | undefined;
  /** Tools of the gateway itself beside `read_result`. */
  readonly own?: readonly OwnTool[] | undefined;
  readonly log?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** The caps of section "limits" that concern calls; the defaults are the documented ones. */
export interface ExecutionLimits extends Omit<ConcurrencyOptions, 'perServerOf' | 'clock'> {
  /** Silence allowed in a call, in ms. Default 60 s. */
  readonly callIdle?: number | undefined;
  /** The longest a call may last, in ms. Default 10 min. */
  readonly callCeiling?: number | undefined;
  /** Bytes of a result handed on whole. Default 5 MiB. */
  readonly result?: number | undefined;
  /** Bytes of cut results kept in all. Default 64 MiB. */
  readonly resultsKept?: number | undefined;
  /** Time for one check on the other thread, in ms. Default 50. */
  readonly validationBudget?: number | undefined;
  /** Caps on one tool schema; what exceeds them is not checked. Default 64 levels, 5,000 sub-schemas. */
  readonly schema?: { readonly depth: number; readonly subSchemas: number } | undefined;
  /** Time for calls under way to end when closing, in ms. Default 10 s. */
  readonly drain?: number | undefined;
}

/** What a caller may say about one call. */
export interface ExecuteOptions {
  readonly caller?: Caller | undefined;
  readonly signal?: CallSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onNotification?: ToolCall['onNotification'];
  readonly traceId?: string | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds for the whole call, waits and repeats included; replaces the usual time-outs. */
  readonly timeout?: number | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: string | undefined;
}

/** A call that cannot be made, as somebody wrote it: nothing in it need be what it should be. */
export interface RefusedCall extends ExecuteOptions {
  readonly server?: unknown;
  readonly tool?: unknown;
  readonly arguments?: unknown;
}

/** What `executeStream` yields: any number of `progress`, then exactly one `result`. */
export type ExecutionEvent =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'result'; readonly result: ToolResult<CallToolResult> };

const NOBODY: Caller = {};

/** Calls tools on servers. */
export class ToolExecutionProxy {
  /** State of the breakers, for status pages. */
  readonly breakers: CircuitBreakers;
  /** What counts calls, for the proxy that replaces this one. */
  readonly gates: CallGates;
  /** Schemas whose checks are off and why, for status pages. */
  readonly validators: SchemaValidators;
  readonly #connections: ConnectionPort | undefined;
  readonly #clock: Clock;
  readonly #drain: number;
  readonly #pages: ResultPages;
  readonly #run: Handler;
  readonly #own: ReadonlyMap<string, Handler>;
  readonly #record: Step;
  readonly #running = new Set<Cancellation>();
  #closing: Promise<void> | undefined;
  readonly #drained = new Set<() => void>();

  constructor(options: ToolExecutionProxyOptions) {
    const { invoke, lookup, decide, settingsOf, isRepeatable, limits = {}, log } = options;
    const { clock = systemClock, random = Math.random } = options;
    const { callIdle: idle, callCeiling: ceiling } = limits;
    this.#connections = options.connections;
    this.#clock = clock;
    this.#drain = limits.drain ?? DEFAULTS.limits.drain;
    this.#pages = options.pages ?? new ResultPages({ maxBytes: limits.resultsKept, clock });
    this.gates = options.gates ?? new CallGates(clock);
    const { slots, buckets, breakers } = this.gates;
    breakers.configure(options.breaker);
    this.breakers = breakers;
    this.validators = new SchemaValidators({ budget: limits.validationBudget, schema: limits.schema });
    const record = audit(options.audit, clock);
    this.#record = record;
    const report = (thrown: unknown) => log?.warn({ err: thrown }, 'a progress listener threw and hears no more');

    this.#run = pipeline(
      [
        record,
        resolve(lookup, clock),
        policy(decide),
        resultLimit(this.#pages, limits.result, options.runSteps),
        validate(this.validators, options.output, options.redact),
        progress({ clock, report }),
        breakers.gate,
        retry({ within: ceiling, ...options.retry, isRepeatable, clock, random }),
        concurrency({ ...limits, perServerOf: (server) => settingsOf?.(server)?.concurrency, clock }, slots),
        rateLimit({ limitOf: (server) => settingsOf?.(server)?.rateLimit, maxWait: ceiling, clock }, buckets),
        // Asked again after all waiting: a reload may have forbidden it meanwhile.
        policy(decide),
        breakers.watch,
        timeout({ idle, ceiling, idleOf: (server) => settingsOf?.(server)?.timeout, clock }),
      ],
      invoke,
    );
    const readResult: OwnTool = {
      definition: READ_RESULT,
      run: async (call) => this.#pages.read(call.arguments, call.caller),
    };
    this.#own = new Map(
      [readResult, ...(options.own ?? [])].map(({ definition, run }) => {
        const handle = pipeline([record, validate(this.validators, 'off')], run);
        return [definition.name, (call) => handle({ ...call, definition })];
      }),
    );
  }

  /** Calls a tool. Never throws: whatever goes wrong is a failure with a code. */
  async execute(
    server: string,
    tool: string,
    args?: unknown,
    options: ExecuteOptions = {},
  ): Promise<ToolResult<CallToolResult>> {
    const repaired = repairArguments(args);
    const refusal = this.#refusal(server, tool, repaired, args);
    if (refusal !== undefined) return this.refuse(refusal, { ...options, server, tool, arguments: repaired });
    const cancellation = new Cancellation(options.signal);
    this.#running.add(cancellation);
    try {
      return await this.#handlerOf(server, tool)(this.#toCall(server, tool, repaired, options, cancellation));
    } catch (thrown) {
      return toFailure(thrown, { server, tool });
    } finally {
      cancellation.unfollow();
      this.#running.delete(cancellation);
      if (this.#running.size === 0) for (const resume of this.#drained) resume();
    }
  }

  /** Records a call that is refused before it begins, with as much of it as makes sense, and gives the refusal back. */
  refuse(
    refusal: ToolResult<never>,
    { server, tool, arguments: args, ...options }: RefusedCall,
  ): Promise<ToolResult<CallToolResult>> {
    const [from = '', name = ''] = [server, tool].map((written) => (typeof written === 'string' ? written : ''));
    const call = this.#toCall(from, name, repairArguments(args), options, options.signal ?? new Cancellation());
    return this.#record(async () => refusal)(call);
  }

  #toCall(
    server: string,
    tool: string,
    args: ToolCall['arguments'] = {},
    options: ExecuteOptions,
    signal: CallSignal,
  ): ToolCall {
    const { timeout: ms } = options;
    return {
      server,
      tool,
      arguments: args,
      traceId: options.traceId ?? nextTraceId(),
      caller: options.caller ?? NOBODY,
      signal,
      onProgress: options.onProgress,
      onNotification: options.onNotification,
      meta: options.meta,
      inputResponses: options.inputResponses,
      requestState: options.requestState,
      deadline: ms === undefined ? undefined : this.#clock.now() + ms,
      // Known to the copies that steps make: all of them have the same shape.
      idleClock: undefined,
      definition: undefined,
      notes: { bytes: undefined, flags: undefined },
    };
  }

  /** Calls a tool and shows its progress on the way. Leaving the loop cancels the call. */
  async *executeStream(
    server: string,
    tool: string,
    args?: unknown,
    options: ExecuteOptions = {},
  ): AsyncGenerator<ExecutionEvent, void, undefined> {
    const events = new EventQueue<ExecutionEvent>();
    const left = new Cancellation(options.signal);
    const onProgress = (note: Progress) => {
      events.push({ type: 'progress', progress: note });
      options.onProgress?.(note);
    };
    void this.execute(server, tool, args, { ...options, signal: left, onProgress }).then((result) => {
      events.push({ type: 'result', result });
      events.end();
    });
    try {
      for (let event = await events.take(); event !== undefined; event = await events.take()) yield event;
    } finally {
      left.unfollow();
      left.abort();
    }
  }

  /** Opens the connection to a server before it is needed. */
  async connect(server: string): Promise<void> {
    await this.#connections?.connect(server);
  }

  /** Closes the connection to a server; the next call opens it again. */
  async disconnect(server: string): Promise<void> {
    await this.#connections?.disconnect(server);
  }

  /** Whether a connection to the server is open now. */
  isConnected(server: string): boolean {
    return this.#connections?.isConnected(server) ?? false;
  }

  /** Takes no more calls, lets those under way end for a while, then ends them with SHUTTING_DOWN. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Waits for the calls under way, however long, then lets go of everything. For a proxy that was replaced. */
  async finish(): Promise<void> {
    while (this.#running.size > 0) await this.#untilDrained();
    await this.validators.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    if (this.#running.size > 0) await this.#untilDrained(this.#drain);
    for (const call of this.#running) call.abort(new DiscoveryError('SHUTTING_DOWN', CLOSED));
    await this.validators.close();
    this.#pages.close();
  }

  /** Resolves when no call is under way any more, or when the time is over. */
  #untilDrained(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        timer?.clear();
        this.#drained.delete(resume);
        resolve();
      };
      const timer = ms === undefined ? undefined : this.#clock.after(ms, resume);
      this.#drained.add(resume);
    });
  }

  #handlerOf(server: string, tool: string): Handler {
    return (server === OWN_SERVER && this.#own.get(tool)) || this.#run;
  }

  /** Why a call does not even begin, if it does not. */
  #refusal(
    server: string,
    tool: string,
    args: ToolCall['arguments'] | undefined,
    sent: unknown,
  ): ToolResult<never> | undefined {
    const where = { server, tool, outcome: 'not_sent' } as const;
    if (this.#closing !== undefined) return fail('SHUTTING_DOWN', CLOSED, where);
    if (server === OWN_SERVER && !this.#own.has(tool)) {
      const names = [...this.#own.keys()];
      const message = `"${OWN_SERVER}" is the gateway itself; it has only ${names.map((name) => `"${name}"`).join(' and ')}.`;
      return fail('TOOL_NOT_FOUND', message, { ...where, suggestions: names });
    }
    if (args !== undefined) return undefined;
    const message = `Arguments of ${server}:${tool} ${argumentsFault(sent)}.`;
    return fail('TOOL_VALIDATION_ERROR', message, { ...where, schema: { type: 'object' } });
  }
}

const CLOSED = 'The gateway is shutting down and takes no more calls.';
