/**
 * A `tools/call` as it arrives from an agent, whatever the transport and the protocol revision, and what answers it.
 * @module
 */
import type { ProtocolEra } from '../connections/handshake.ts';
import { META } from '../connections/handshake.ts';
import { DiscoveryError } from '../errors.ts';
import type { Caller, CallToolResult, Progress, ToolCall } from '../types.ts';
import { failure } from './answers.ts';
import { type Ask, ParkedCalls, type RawResult } from './parked-calls.ts';

export interface UpstreamCall {
  readonly params: Readonly<Record<string, unknown>>;
  readonly era: ProtocolEra;
  /** One client connection; absent for requests that stand alone. */
  readonly session?: string | undefined;
  readonly principal?: string | undefined;
  readonly revision?: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Hears what the server says beside progress, where a client shall know. */
  readonly onNotification?: ToolCall['onNotification'];
  /** Asks the agent while the call runs; only clients of the old protocol can be asked that way. */
  readonly ask?: Ask | undefined;
}

/** What a call of one of our tools needs to know about its caller. */
export interface CallContext {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onNotification?: ToolCall['onNotification'];
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: string | undefined;
}

export type RunTool = (name: string, args: unknown, context: CallContext) => Promise<CallToolResult>;
export type UpstreamHandler = (call: UpstreamCall) => Promise<RawResult>;

const INTERACTIVE = ['elicitation', 'sampling', 'roots'];
// Of a request's own: the gateway writes these itself towards a server.
const OURS = new Set<string>([META.protocolVersion, META.clientInfo, META.clientCapabilities, 'progressToken']);

/** Turns calls of either protocol era into runs of our tools, and knows how each era's agents can be asked. */
export function createUpstreamHandler(run: RunTool, parked: ParkedCalls): UpstreamHandler {
  return (call) => {
    const { params, era, capabilities, signal, onProgress, onNotification, session, principal, revision } = call;
    const name = String(params.name ?? '');
    const meta = ownMeta(params._meta);
    const canBeAsked = INTERACTIVE.some((capability) => capabilities[capability]);
    if (era === 'legacy') {
      const caller: Caller = { principal, session, revision, capabilities, ask: canBeAsked ? call.ask : undefined };
      return run(name, params.arguments, { caller, signal, onProgress, onNotification, meta });
    }
    const binding = `${principal ?? ''}\n${name}\n${JSON.stringify(params.arguments ?? null)}`;
    const inputResponses = record(params.inputResponses);
    const hearing = { onProgress, onNotification };
    if (ParkedCalls.owns(params.requestState))
      return refusable(parked.resume(params.requestState, binding, inputResponses ?? {}, signal, hearing));
    const context = {
      ...hearing,
      meta,
      inputResponses,
      requestState: typeof params.requestState === 'string' ? params.requestState : undefined,
    };
    const caller: Caller = { principal, revision, capabilities, acceptsInputRequired: true };
    if (!canBeAsked) return run(name, params.arguments, { ...context, caller, signal });
    return refusable(
      parked.run(
        binding,
        signal,
        (ask, own, heard) =>
          run(name, params.arguments, { ...context, ...heard, caller: { ...caller, ask }, signal: own }),
        hearing,
      ),
    );
  };
}

/** What we refuse is a result that the agent can read, never a broken request. */
async function refusable(result: Promise<RawResult>): Promise<RawResult> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof DiscoveryError) return failure(error.toInfo());
    throw error;
  }
}

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

/** What a request's `_meta` holds of its own: what is handed on, without the envelope that each leg writes itself. */
export function ownMeta(meta: unknown): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.entries(record(meta) ?? {}).filter(([key]) => !OURS.has(key));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
