/**
 * Runs an agent's `tools/call` of any transport and protocol revision.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import type { ProtocolEra } from '../connections/handshake.ts';
import { META } from '../connections/handshake.ts';
import { DiscoveryError } from '../core/errors.ts';
import { turnKey } from '../core/fair-share.ts';
import type { Caller, Progress, ToolCall } from '../core/types.ts';
import { writeJson } from '../json/exact-json.ts';
import { isObject } from '../json/plain-object.ts';
import { failure } from '../meta-tools/answers.ts';
import type { CallContext, RunTool } from '../meta-tools/run-tool.ts';
import { type Ask, ParkedCalls, type RawResult } from './parked-calls.ts';

export interface UpstreamCall {
  readonly params: Readonly<Record<string, unknown>>;
  /** The id of the request. */
  readonly id?: string | number | undefined;
  readonly era: ProtocolEra;
  /** The client's connection, in either protocol; absent for requests that stand alone. */
  readonly session?: string | undefined;
  readonly socket?: string | undefined;
  readonly clientName?: string | undefined;
  readonly principal?: string | undefined;
  readonly profile?: string | undefined;
  readonly revision?: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly signal: CallSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Receives the server's other notifications, if the client wants them. */
  readonly onNotification?: ToolCall['onNotification'];
  /** Asks the agent while the call runs. Only clients of the old protocol support it. */
  readonly ask?: Ask | undefined;
}

/** Answers a tool call, or, with `work`, another request. */
export type UpstreamHandler = (
  call: UpstreamCall,
  work?: (context: CallContext) => Promise<RawResult>,
) => Promise<RawResult>;

// The gateway writes these keys itself for each server.
const OURS = new Set<string>([META.protocolVersion, META.clientInfo, META.clientCapabilities, 'progressToken']);

/** Creates the handler of calls in both protocol eras. It asks agents in the way of their era. */
export function createUpstreamHandler(run: RunTool, parked: ParkedCalls): UpstreamHandler {
  return (call, work) => {
    const { params, id, era, capabilities, signal, onProgress, onNotification, session, principal, revision } = call;
    const { socket, clientName, profile } = call;
    const runWith = work ?? ((context) => run(String(params.name ?? ''), params.arguments, context));
    const meta = ownMeta(params._meta);
    if (era === 'legacy') {
      const ask = canBeAsked(capabilities) ? call.ask : undefined;
      const caller: Caller = { principal, profile, session, clientName, revision, capabilities, ask };
      return runWith({ caller, id, signal, onProgress, onNotification, meta });
    }
    const { requestState } = params;
    const inputResponses = record(params.inputResponses);
    const hearing = { onProgress, onNotification };
    const answered = work ? (result: Promise<RawResult>) => result : refusable;
    if (ParkedCalls.owns(requestState))
      return answered(parked.resume(requestState, bindingOf(call), inputResponses ?? {}, signal, hearing));
    const context: CallContext = {
      caller: {
        ...{ principal, profile, session, socket, clientName, revision, capabilities },
        acceptsInputRequired: true,
      },
      id,
      signal,
      onProgress,
      onNotification,
      meta,
      inputResponses,
      requestState: typeof requestState === 'string' ? requestState : undefined,
    };
    if (!canBeAsked(capabilities)) return runWith(context);
    return answered(
      parked.run(
        turnKey(context.caller),
        bindingOf(call),
        signal,
        (ask, own, heard) => runWith({ ...context, ...heard, caller: { ...context.caller, ask }, signal: own }),
        hearing,
      ),
    );
  };
}

export const canBeAsked = ({ elicitation, sampling, roots }: UpstreamCall['capabilities']): boolean =>
  Boolean(elicitation || sampling || roots);

/** The caller, and what a request is about. Answers to its questions must match them. */
const bindingOf = ({ principal = '', profile = '', params: { name = '', uri = '', ...rest } }: UpstreamCall): string =>
  [principal, profile, String(name), String(uri), writeJson(rest.arguments ?? null)].join('\n');

/** Turns our own refusals into results that the agent can read. */
async function refusable(result: Promise<RawResult>): Promise<RawResult> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof DiscoveryError) return failure(error.toInfo());
    throw error;
  }
}

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined => (isObject(value) ? value : undefined);

/** A request's own `_meta`: without the envelope, which is written for each connection. */
export function ownMeta(meta: unknown): Readonly<Record<string, unknown>> | undefined {
  const given = record(meta);
  if (given === undefined) return undefined;
  let own: Record<string, unknown> | undefined;
  for (const key of Object.keys(given)) {
    if (OURS.has(key)) continue;
    // The keys are the client's own and may include `__proto__`.
    own ??= Object.create(null) as Record<string, unknown>;
    own[key] = given[key];
  }
  return own;
}
