/**
 * Calls a tool on a server through the steps listed in the constructor. Never throws because of what a caller does.
 * @module
 */
import { type CallSignal, Cancellation } from '../async/cancellation.ts';
import { InFlight } from '../async/in-flight.ts';
import { DiscoveryError } from '../core/errors.ts';
import { DEFAULTS } from '../core/limits.ts';
import { OWN_SERVER } from '../core/own-server.ts';
import { fail, type ToolResult, toFailure } from '../core/result.ts';
import type {
  Caller,
  CallToolResult,
  ItemRef,
  Logger,
  Progress,
  RateLimit,
  ToolCall,
  ToolDefinition,
  ToolRequest,
} from '../core/types.ts';
import { jsonFault, plainJson } from '../json/json-fault.ts';
import { isObject } from '../json/plain-object.ts';
import { CallGates } from './call-gates.ts';
import type { BreakerOptions } from './circuit-breaker.ts';
import { EventQueue } from './event-queue.ts';
import { ITEM_TOOLS, toItemCall } from './item-tools.ts';
import { type Handler, pipeline, type Step } from './pipeline.ts';
import { READ_RESULT, ResultPages, type RunSteps } from './result-pages.ts';
import { type AuditRecorder, audit } from './steps/audit.ts';
import { type ConcurrencyOptions, concurrency } from './steps/concurrency.ts';
import { type Decide, policy } from './steps/policy.ts';
import { progress } from './steps/progress.ts';
import { rateLimit, type ServerRate, type SharedRates } from './steps/rate-limit.ts';
import { type Lookup, resolve } from './steps/resolve.ts';
import { resultLimit } from './steps/result-limit.ts';
import { type RetryOptions, retry } from './steps/retry.ts';
import { timeout } from './steps/timeout.ts';
import { type OutputOptions, unwritable, validate } from './steps/validate.ts';
import { type Clock, systemClock } from './timers.ts';
import { nextTraceId } from './trace-id.ts';
import { argumentsFault, repairArguments } from './validation/repair-arguments.ts';
import { SchemaValidators } from './validation/schema-validators.ts';

/** A tool of the gateway itself, called under its own server name. */
export interface OwnTool {
  readonly definition: ToolDefinition;
  readonly run: Handler;
}

/** The settings of one server's entry for calls. */
export interface CallSettings {
  /** Idle timeout in ms. */
  readonly timeout?: number | undefined;
  readonly rateLimit?: ServerRate | undefined;
  readonly concurrency?: number | undefined;
}

/** What a profile says about the calls of one user. */
export interface UserLimits {
  /** Calls in flight. */
  readonly inFlight?: number | undefined;
  /** Calls to all servers together. */
  readonly rateLimit?: RateLimit | undefined;
}

/** Everything the executor is built from. */
export interface ToolExecutorOptions extends OutputOptions {
  /** Sends the call; the end of the pipeline. May throw; that becomes a failure. */
  readonly invoke: Handler;
  readonly lookup: Lookup;
  readonly decide: Decide;
  readonly audit: AuditRecorder;
  /** Returns a server's settings; called for each call. */
  readonly settingsOf?: ((server: string) => CallSettings | undefined) | undefined;
  /** Returns under which name a call is counted by breakers, slots and rates. Default: the server's name. */
  readonly gateOf?: ((server: string, caller: Caller) => string) | undefined;
  /** Returns the limits of a user; called for each call. */
  readonly limitsOf?: ((caller: Caller) => UserLimits | undefined) | undefined;
  /** Tells whether a call may be repeated: the operator's globs, or a trusted server's hints. */
  readonly isRepeatable?: ((call: ToolCall) => boolean) | undefined;
  readonly retry?: Omit<RetryOptions, 'isRepeatable' | 'clock' | 'random'> | undefined;
  readonly breaker?: BreakerOptions | undefined;
  readonly limits?: ExecutionLimits | undefined;
  /** The store of cut results; passed in so that it survives a reload. */
  readonly pages?: ResultPages | undefined;
  /** Cuts large results in steps, so that other work is not blocked. Default: all steps at once. */
  readonly runSteps?: RunSteps | undefined;
  /** Counters of calls; passed in so that running calls still count after a reload. */
  readonly gates?: CallGates | undefined;
  /** Rates that several replicas share. Default: none. */
  readonly rates?: (() => SharedRates | undefined) | undefined;
  /** Tools of the gateway itself, in addition to `read_result`. */
  readonly own?: readonly OwnTool[] | undefined;
  readonly log?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** The settings in `limits` that concern calls, with the documented defaults. */
interface ExecutionLimits extends Omit<ConcurrencyOptions, 'perServerOf' | 'perClientOf' | 'clock'> {
  /** Idle timeout of a call, in ms. Default 60 s. */
  readonly callIdle?: number | undefined;
  /** The longest a call may take, in ms. Default 10 min. */
  readonly callCeiling?: number | undefined;
  /** Bytes of a result passed on whole. Default 5 MiB. */
  readonly result?: number | undefined;
  /** Timeout of one check on the worker thread, in ms. Default 50. */
  readonly validationBudget?: number | undefined;
  /** Limits of one tool schema; a larger one is not checked. Default 64 levels, 5,000 sub-schemas. */
  readonly schema?: { readonly depth: number; readonly subSchemas: number } | undefined;
  /** Time for running calls to end when closing, in ms. Default 10 s. */
  readonly drain?: number | undefined;
}

/** Options of one call. */
export interface ExecuteOptions {
  readonly caller?: Caller | undefined;
  readonly signal?: CallSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onNotification?: ToolCall['onNotification'];
  readonly traceId?: string | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Milliseconds for the whole call, including waits and retries. Replaces the idle timeout; the ceiling still applies.
   */
  readonly timeout?: number | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: string | undefined;
  /** The MCP request that the call came with, for handlers of own tools. */
  readonly request?: ToolRequest | undefined;
  /** Counts the call apart from others to a source of the same name. Default: the server's name. */
  readonly gate?: string | undefined;
}

/** Options of the relay: what is read instead of a tool being called, and a tool as the caller's connection lists it. */
interface RelayOptions extends ExecuteOptions {
  readonly item?: ItemRef | undefined;
  readonly definition?: ToolDefinition | undefined;
}

/** A call that cannot be made, as the caller wrote it. Its fields may have any type. */
export interface RefusedCall extends ExecuteOptions {
  readonly server?: unknown;
  readonly tool?: unknown;
  readonly arguments?: unknown;
}

/** What `executeStream` yields: any number of `progress`, then exactly one `result`. */
export type ExecutionEvent =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'result'; readonly result: ToolResult<CallToolResult> };

/** The events of one call. Leaving the loop over them cancels the call. */
export type ExecutionEvents = AsyncGenerator<ExecutionEvent, void, undefined>;

const NOBODY: Caller = {};

/** Calls tools on servers. */
export class ToolExecutor {
  /** Counters of calls, for the executor that replaces this one. */
  readonly gates: CallGates;
  /** Schemas whose checks are off and why, for status pages. */
  readonly validators: SchemaValidators;
  readonly #clock: Clock;
  readonly #drain: number;
  readonly #pages: ResultPages;
  readonly #checksItself: ToolExecutorOptions['checksItself'];
  readonly #gateOf: NonNullable<ToolExecutorOptions['gateOf']>;
  readonly #run: Handler;
  readonly #own: ReadonlyMap<string, Handler>;
  readonly #record: Step;
  readonly #running = new InFlight<Cancellation>();
  #closing: Promise<void> | undefined;
  readonly #drained = new Set<() => void>();

  constructor(options: ToolExecutorOptions) {
    const { invoke, lookup, decide, settingsOf, limitsOf, isRepeatable, limits = {}, log } = options;
    const { clock = systemClock, random = Math.random } = options;
    const { callIdle: idle, callCeiling: ceiling } = limits;
    this.#clock = clock;
    this.#gateOf = options.gateOf ?? ((server) => server);
    this.#checksItself = options.checksItself;
    this.#drain = limits.drain ?? DEFAULTS.limits.drain;
    this.#pages = options.pages ?? new ResultPages({ clock });
    this.gates = options.gates ?? new CallGates(clock);
    const { slots, buckets, breakers } = this.gates;
    breakers.configure(options.breaker);
    this.validators = new SchemaValidators({ budget: limits.validationBudget, schema: limits.schema });
    const record = audit(options.audit, clock);
    this.#record = record;
    const report = (thrown: unknown) =>
      log?.warn({ err: thrown }, 'a progress listener threw and gets no more notifications');

    this.#run = pipeline(
      [
        record,
        resolve(lookup, clock),
        policy(decide),
        resultLimit(this.#pages, limits.result, options.runSteps),
        validate(this.validators, options.output, options.redact, options.checksItself),
        progress({ clock, report }),
        breakers.gate,
        retry({ within: ceiling, ...options.retry, isRepeatable, clock, random }),
        concurrency(
          {
            ...limits,
            perServerOf: (server) => settingsOf?.(server)?.concurrency,
            perClientOf: limitsOf && ((caller) => limitsOf(caller)?.inFlight),
            clock,
          },
          slots,
        ),
        rateLimit(
          {
            limitOf: (server) => settingsOf?.(server)?.rateLimit,
            userLimitOf: limitsOf && ((caller) => limitsOf(caller)?.rateLimit),
            maxWait: ceiling,
            clock,
            shared: options.rates,
          },
          buckets,
        ),
        // Checked again after all waiting: a reload may have forbidden the tool meanwhile.
        policy(decide),
        breakers.watch,
        timeout({ idle, ceiling, idleOf: (server) => settingsOf?.(server)?.timeout, clock }),
      ],
      invoke,
    );
    const readResult: OwnTool = {
      definition: READ_RESULT,
      run: (call) => this.#pages.read(call.arguments, call.caller, options.runSteps),
    };
    const check = validate(this.validators, 'off');
    const own = new Map<string, Handler>();
    for (const { definition, run } of [readResult, ...(options.own ?? [])]) {
      const handle = pipeline([record, check], run);
      own.set(definition.name, (call) => handle({ ...call, definition }));
    }
    for (const definition of ITEM_TOOLS)
      own.set(definition.name, (call) => {
        // Recorded once: under the server that is asked, or here if it is not.
        let asked: ReturnType<Handler> | undefined;
        const ask = (checked: ToolCall) => {
          const call = toItemCall(checked);
          asked = this.#run({ ...call, gate: this.#gateOf(call.server, call.caller) });
          return asked;
        };
        return check(ask)({ ...call, definition }).then((result) =>
          asked ? result : record(async () => result)(call),
        );
      });
    this.#own = own;
  }

  /** Calls a tool. Never throws: every error is a failure with a code. */
  async execute(
    server: string,
    tool: string,
    args?: unknown,
    options: RelayOptions = {},
  ): Promise<ToolResult<CallToolResult>> {
    const repaired = repairArguments(args);
    const refusal = this.#refusal(server, tool, repaired, args);
    if (refusal !== undefined) return this.refuse(refusal, { ...options, server, tool, arguments: repaired });
    const { value: plain, fault } = plainJson(repaired);
    if (fault !== undefined || !isObject(plain))
      return this.refuse(unwritable({ server, tool }, fault ?? 'are no object'), {
        ...options,
        server,
        tool,
        arguments: {},
      });
    // A program's own tools get the values that it gave; all others what JSON makes of them, the same for every step.
    const sent = this.#checksItself?.(server) ? repaired : plain;
    const cancellation = new Cancellation(options.signal);
    this.#running.add(cancellation);
    try {
      return await this.#handlerOf(server, tool)(this.#toCall(server, tool, sent, options, cancellation));
    } catch (thrown) {
      return toFailure(thrown, { server, tool });
    } finally {
      cancellation.unfollow();
      this.#running.delete(cancellation);
      if (this.#running.size === 0) for (const resume of this.#drained) resume();
    }
  }

  /** Records a call that is refused before it starts, as far as it is readable, and returns the refusal. */
  refuse(
    refusal: ToolResult<never>,
    { server, tool, arguments: args, ...options }: RefusedCall,
  ): Promise<ToolResult<CallToolResult>> {
    const [from = '', name = ''] = [server, tool].map((written) => (typeof written === 'string' ? written : ''));
    const repaired = repairArguments(args);
    // The audit measures and hashes them.
    const given = jsonFault(repaired) === undefined ? repaired : {};
    const call = this.#toCall(from, name, given, options, options.signal ?? new Cancellation());
    return this.#record(async () => refusal)(call);
  }

  #toCall(
    server: string,
    tool: string,
    args: ToolCall['arguments'] = {},
    options: RelayOptions,
    signal: CallSignal,
  ): ToolCall {
    const { timeout: ms, caller = NOBODY } = options;
    return {
      server,
      tool,
      arguments: args,
      traceId: options.traceId ?? nextTraceId(),
      caller,
      signal,
      onProgress: options.onProgress,
      onNotification: options.onNotification,
      meta: options.meta,
      inputResponses: options.inputResponses,
      requestState: options.requestState,
      request: options.request,
      gate: options.gate ?? this.#gateOf(server, caller),
      deadline: ms === undefined ? undefined : this.#clock.now() + ms,
      // Set explicitly, so that all copies made by steps have the same shape.
      idleClock: undefined,
      definition: options.definition,
      item: options.item,
      notes: { bytes: undefined, connectMs: undefined, flags: undefined },
    };
  }

  /** Calls a tool and yields its progress. Leaving the loop cancels the call. */
  async *executeStream(server: string, tool: string, args?: unknown, options: ExecuteOptions = {}): ExecutionEvents {
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

  /** Accepts no more calls, lets running ones end for a while, then ends them with SHUTTING_DOWN. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Waits for running calls, however long, then releases everything. For an executor that was replaced. */
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

  /** Resolves when no call is running, or after the timeout. */
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

  /** Returns why a call must not start, if so. */
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
      const message = `"${OWN_SERVER}" is the gateway itself; its only tools are ${names.map((name) => `"${name}"`).join(', ')}.`;
      return fail('TOOL_NOT_FOUND', message, { ...where, suggestions: names });
    }
    if (args !== undefined) return undefined;
    const message = `Arguments of ${server}:${tool} ${argumentsFault(sent)}.`;
    return fail('TOOL_VALIDATION_ERROR', message, { ...where, schema: { type: 'object' } });
  }
}

const CLOSED = 'The engine is closing and takes no more calls.';
