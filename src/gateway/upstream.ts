/**
 * A `tools/call` as it arrives from an agent, whatever the transport and the protocol revision, and what answers it.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import type { ProtocolEra } from '../connections/handshake.ts';
import { META } from '../connections/handshake.ts';
import { DiscoveryError } from '../core/errors.ts';
import type { Caller, Progress, ToolCall } from '../core/types.ts';
import { writeJson } from '../json/exact-json.ts';
import { isObject } from '../json/plain-object.ts';
import { failure } from '../meta-tools/answers.ts';
import type { CallContext, RunTool } from '../meta-tools/run-tool.ts';
import { type Ask, ParkedCalls, type RawResult } from './parked-calls.ts';

export interface UpstreamCall {
  readonly params: Readonly<Record<string, unknown>>;
  readonly era: ProtocolEra;
  /** One client connection, whichever its protocol; absent for requests that stand alone. */
  readonly session?: string | undefined;
  readonly socket?: string | undefined;
  readonly clientName?: string | undefined;
  readonly principal?: string | undefined;
  readonly revision?: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly signal: CallSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Hears what the server says beside progress, where a client shall know. */
  readonly onNotification?: ToolCall['onNotification'];
  /** Asks the agent while the call runs; only clients of the old protocol can be asked that way. */
  readonly ask?: Ask | undefined;
}

export type UpstreamHandler = (call: UpstreamCall) => Promise<RawResult>;

// Of a request's own: the gateway writes these itself towards a server.
const OURS = new Set<string>([META.protocolVersion, META.clientInfo, META.clientCapabilities, 'progressToken']);

/** Turns calls of either protocol era into runs of our tools, and knows how each era's agents can be asked. */
export function createUpstreamHandler(run: RunTool, parked: ParkedCalls): UpstreamHandler {
  return (call) => {
    const { params, era, capabilities, signal, onProgress, onNotification, session, principal, revision } = call;
    const { socket, clientName } = call;
    const name = String(params.name ?? '');
    const meta = ownMeta(params._meta);
    if (era === 'legacy') {
      const ask = canBeAsked(capabilities) ? call.ask : undefined;
      const caller: Caller = { principal, session, clientName, revision, capabilities, ask };
      return run(name, params.arguments, { caller, signal, onProgress, onNotification, meta });
    }
    const { requestState } = params;
    const inputResponses = record(params.inputResponses);
    const hearing = { onProgress, onNotification };
    if (ParkedCalls.owns(requestState))
      return refusable(parked.resume(requestState, bindingOf(call), inputResponses ?? {}, signal, hearing));
    const context: CallContext = {
      caller: { principal, session, socket, clientName, revision, capabilities, acceptsInputRequired: true },
      signal,
      onProgress,
      onNotification,
      meta,
      inputResponses,
      requestState: typeof requestState === 'string' ? requestState : undefined,
    };
    if (!canBeAsked(capabilities)) return run(name, params.arguments, context);
    return refusable(
      parked.run(
        bindingOf(call),
        signal,
        (ask, own, heard) =>
          run(name, params.arguments, { ...context, ...heard, caller: { ...context.caller, ask }, signal: own }),
        hearing,
      ),
    );
  };
}

const canBeAsked = ({ elicitation, sampling, roots }: UpstreamCall['capabilities']): boolean =>
  Boolean(elicitation || sampling || roots);

/** Who calls what with which arguments: the answers to a question must come with the same. */
const bindingOf = ({ principal, params }: UpstreamCall): string =>
  `${principal ?? ''}\n${String(params.name ?? '')}\n${writeJson(params.arguments ?? null)}`;

/** What we refuse is a result that the agent can read, never a broken request. */
async function refusable(result: Promise<RawResult>): Promise<RawResult> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof DiscoveryError) return failure(error.toInfo());
    throw error;
  }
}

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined => (isObject(value) ? value : undefined);

/** What a request's `_meta` holds of its own: what is handed on, without the envelope that each leg writes itself. */
export function ownMeta(meta: unknown): Readonly<Record<string, unknown>> | undefined {
  const given = record(meta);
  if (given === undefined) return undefined;
  let own: Record<string, unknown> | undefined;
  for (const key of Object.keys(given)) {
    if (OURS.has(key)) continue;
    // The keys are the client's: `__proto__` is one like any other.
    own ??= Object.create(null) as Record<string, unknown>;
    own[key] = given[key];
  }
  return own;
}
