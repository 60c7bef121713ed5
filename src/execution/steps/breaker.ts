/**
 * Stops calling a server that keeps failing: while its breaker is open, calls fail at once with SERVER_UNAVAILABLE.
 * Only infrastructure failures count; a tool that reports an error is a healthy server. If a server dies, all calls it
 * was working on count as one failure.
 * @module
 */
import type { ErrorInfo } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { isOwnedKey, serverIn } from '../../core/owned-key.ts';
import { causeOf, fail, type ToolResult, UnheededError } from '../../core/result.ts';
import type { CallToolResult, ToolCall } from '../../core/types.ts';
import { type BreakerOptions, CircuitBreaker } from '../circuit-breaker.ts';
import type { Step } from '../pipeline.ts';
import { type Clock, systemClock } from '../timers.ts';

/** The breakers of all servers, used at two places of the pipeline. */
export class CircuitBreakers {
  #options: BreakerOptions;
  readonly #clock: Clock;
  readonly #breakers = new Map<string, CircuitBreaker>();

  constructor(options: BreakerOptions = {}, clock: Clock = systemClock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Applies new settings. If they differ, all breakers are reset. */
  configure(options: BreakerOptions = {}): void {
    if (JSON.stringify(options) !== JSON.stringify(this.#options)) this.#breakers.clear();
    this.#options = options;
  }

  /** The servers that are not called for now. */
  open(): string[] {
    const now = this.#clock.now();
    return [...this.#breakers].flatMap(([server, breaker]) => (breaker.waitTime(now) > 0 ? [server] : []));
  }

  /** Drops a server's failures, for example after its configuration changed. */
  reset(server: string): void {
    for (const key of this.#breakers.keys()) if (serverIn(key) === server) this.#breakers.delete(key);
  }

  /** Refuses at once while open. Comes before the queue, so that no call queues only to be refused. */
  readonly gate: Step = (next) => (call) => {
    const refusal = this.#refusal(call);
    return refusal === undefined ? next(call) : Promise.resolve(refusal);
  };

  /** Lets calls through and records how they went. Comes after the queue, around each attempt. */
  readonly watch: Step = (next) => async (call) => {
    if (isOfOneRequest(call)) return next(call);
    const refusal = this.#refusal(call);
    if (refusal !== undefined) return refusal;
    const key = breakerKey(call);
    const breaker = this.#breakers.get(key);
    breaker?.enter();
    const result = await next(call);
    const verdict = this.#ranOutOfTime(call, result) ? undefined : judge(result);
    // A healthy server needs no breaker until its first failure.
    const told = breaker ?? (verdict === false ? this.#ensure(key) : undefined);
    told?.leave(this.#clock.now(), verdict, result.success ? undefined : causeOf(result.error));
    return result;
  };

  /** A caller's own deadline says nothing about the server. Our own limits do; they end a call before its deadline. */
  #ranOutOfTime({ deadline }: ToolCall, result: ToolResult<CallToolResult>): boolean {
    if (result.success || result.error.code !== 'TOOL_EXECUTION_TIMEOUT') return false;
    // Node's timers may fire a fraction of a millisecond early.
    return deadline !== undefined && this.#clock.now() + 1 >= deadline;
  }

  #ensure(server: string): CircuitBreaker {
    let breaker = this.#breakers.get(server);
    if (breaker === undefined) {
      breaker = new CircuitBreaker(this.#options);
      if (this.#breakers.size >= LIMITS.cache.health)
        this.#breakers.delete(this.#breakers.keys().next().value as string);
      this.#breakers.set(server, breaker);
    }
    return breaker;
  }

  #refusal(call: ToolCall): ToolResult<never> | undefined {
    const { server, tool } = call;
    if (isOfOneRequest(call)) return undefined;
    const wait = this.#breakers.get(breakerKey(call))?.waitTime(this.#clock.now()) ?? 0;
    if (wait === 0) return undefined;
    return fail(
      'SERVER_UNAVAILABLE',
      `"${server}" failed repeatedly, so it is not called for ${Math.ceil(wait / 1_000)} s. Use another server, or try again after that.`,
      { server, tool, outcome: 'not_sent', retryAfterMs: wait },
    );
  }
}

/** True: the server works. False: it does not. Undefined: the result says nothing about it. */
function judge(result: ToolResult<CallToolResult>): boolean | undefined {
  if (result.success) return true;
  return isInfrastructureFailure(result.error) ? false : result.error.outcome === 'failed' ? true : undefined;
}

/** Tells whether an error is the fault of the server or the connection, not of the call. */
function isInfrastructureFailure(error: ErrorInfo): boolean {
  // A server that lost our session is reconnected; that shows whether it works.
  if (causeOf(error) instanceof UnheededError) return false;
  // A failure that only the user can fix is reported every time; an open breaker would hide it.
  if (error.code === 'SERVER_CONNECTION_ERROR') return error.retryable || error.outcome !== 'not_sent';
  // A call that was not sent ran out of time in our own queues.
  if (error.code === 'TOOL_EXECUTION_TIMEOUT') return error.outcome !== 'not_sent';
  return error.code === 'TOOL_EXECUTION_ERROR' && error.outcome === 'unknown' && !isRefusedCall(error);
}

/** Tells whether the server answered with a status about the call itself, such as HTTP 413. */
function isRefusedCall(error: ErrorInfo): boolean {
  const { status } = Object(causeOf(error)) as { readonly status?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500;
}

/** A request's own source ends with the request, so it needs no breaker. */
const isOfOneRequest = ({ gate, server }: ToolCall): boolean =>
  gate !== undefined && gate !== server && !isOwnedKey(gate);

const breakerKey = ({ gate, server }: ToolCall): string => gate ?? server;
