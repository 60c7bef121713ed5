/**
 * Calls tools through the whole pipeline: finds the tool that is meant, executes it and learns from the outcome.
 * @module
 */
import { resolveRef } from '../catalog/tool-lookup.ts';
import { isLoop, LOOP_REFUSAL } from '../core/hops.ts';
import { ok, type ToolResult, toFailure } from '../core/result.ts';
import type { CallToolResult, ToolDefinition } from '../core/types.ts';
import type { ExecuteOptions, ExecutionEvents, RefusedCall } from '../execution/tool-executor.ts';
import type { EngineRuntime } from './engine-runtime.ts';
import type { EngineState } from './engine-state.ts';
import { findMeant, isCallable, type MeantTool, NAMELESS } from './meant-tool.ts';
import { seenPart } from './profile-parts.ts';
import { seenStates, sharedState } from './seen-states.ts';

/** A call as an agent wrote it. */
export interface CallRequest extends ExecuteOptions {
  readonly server: string;
  readonly tool: string;
  readonly arguments?: unknown;
}

/** The call of a relay: its tool is the one that the caller's own connection lists. */
export interface RelayedCall extends CallRequest {
  readonly definition?: ToolDefinition | undefined;
}

export class EngineCalls {
  readonly #runtime: EngineRuntime;

  constructor(runtime: EngineRuntime) {
    this.#runtime = runtime;
  }

  /** Calls a tool. Never throws. */
  async call(request: RelayedCall): Promise<ToolResult<CallToolResult>> {
    const { server, tool } = request;
    if (!isCallable(server, tool)) return this.refuse(NAMELESS, request);
    const where = { server, tool, outcome: 'not_sent' } as const;
    try {
      const runtime = this.#runtime;
      const running = runtime.current ?? (await runtime.executions.onTheWay(runtime.ready()));
      const { state } = running;
      const { proxy } = running.execution ?? (await runtime.executions.onTheWay(runtime.executions.of(running)));
      if (isLoop(request.meta, state.id)) return await proxy.refuse(LOOP_REFUSAL, request);
      const isForAll = seenPart(state, request.caller) === undefined;
      // A tool that only this client's connection lists. What a profile allows is decided by its own lists.
      const own = isForAll ? request.definition : undefined;
      const isKnown =
        isForAll && (own !== undefined || (state.providers.length === 0 && state.catalog.isLoaded(server)));
      const meant = isKnown
        ? ok([state, own ? { server, tool } : resolveRef(state, server, tool)] as const)
        : await runtime.executions.onTheWay(this.#meant(request).then(ok, (error) => toFailure(error, where)));
      if (!meant.success) return await proxy.refuse(meant, request);
      const [owner, ref] = meant.data;
      runtime.answered(state);
      const isShared = owner === state;
      const wanted = request.definition === own ? request : { ...request, definition: own };
      const options = isShared || owner.sight ? wanted : ofOneRequest(owner, wanted);
      const result = await proxy.execute(ref.server, ref.tool, request.arguments, options);
      if (isShared || owner.sight) runtime.usage?.settled(ref, request.caller, result);
      if (state.config.validation.observe && result.success)
        runtime.outputs.note(owner.catalog.definition(ref.server, ref.tool), result.data);
      return result;
    } catch (error) {
      return this.refuse(toFailure(error, where), request);
    }
  }

  /** Like `call`, as events: progress, then exactly one result. Leaving the loop cancels the call. */
  async *stream(server: string, tool: string, args: unknown, options: ExecuteOptions): ExecutionEvents {
    if (!isCallable(server, tool)) {
      yield { type: 'result', result: await this.refuse(NAMELESS, { ...options, server, tool }) };
      return;
    }
    try {
      const runtime = this.#runtime;
      const running = await runtime.executions.onTheWay(runtime.ready());
      const [owner, ref] = await runtime.executions.onTheWay(this.#meant({ ...options, server, tool }));
      const { proxy } = await runtime.executions.onTheWay(runtime.executions.of(running));
      const isShared = owner === running.state;
      const own = isShared || owner.sight ? options : ofOneRequest(owner, options);
      const events = proxy.executeStream(ref.server, ref.tool, args, own);
      yield* ((isShared || owner.sight) && runtime.usage?.watched(ref, options.caller, events)) || events;
    } catch (error) {
      yield { type: 'result', result: toFailure(error, { server, tool, outcome: 'not_sent' }) };
    }
  }

  async #meant(request: CallRequest): Promise<MeantTool> {
    return findMeant(await seenStates(this.#runtime, request.caller), request.server, request.tool, request);
  }

  /** Records a call that was refused before it got here, and returns the refusal. */
  async refuse(refusal: ToolResult<never>, request: RefusedCall = {}): Promise<ToolResult<CallToolResult>> {
    try {
      const { proxy } = await this.#runtime.executions.of(await this.#runtime.ready());
      return await proxy.refuse(refusal, request);
    } catch (error) {
      // Without a configuration there is no audit log.
      return toFailure(error, { outcome: 'not_sent' });
    }
  }

  /** Tells whether a request with this `_meta` has passed through this gateway before. */
  async isLoop(meta: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    return meta !== undefined && isLoop(meta, (await sharedState(this.#runtime)).id);
  }
}

/** Counts calls to a request's own source separately from other sources of the same name. */
const ofOneRequest = <T extends ExecuteOptions>({ servers }: EngineState, options: T): T => ({
  ...options,
  gate: [...servers.values()][0]?.fingerprint,
});
