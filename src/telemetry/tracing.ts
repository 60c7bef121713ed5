/**
 * Reports calls to OpenTelemetry by the conventions for MCP: a server span for what a client asks of us, a client span
 * for what we ask of a server, and their durations. Parents come from `_meta`, and our own span is handed on there.
 *
 * Only the API is used. Without an SDK in the process it does nothing.
 * @module
 */

import { createHash } from 'node:crypto';
import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { elapsedNow } from '../async/clock.ts';
import { ERROR_CODES } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller, ItemRef, ToolCall } from '../core/types.ts';
import { VERSION } from '../core/version.ts';
import type { Handler } from '../execution/pipeline.ts';
import type { RunTool } from '../meta-tools/run-tool.ts';
import { SECONDS } from './call-metrics.ts';

type Meta = ToolCall['meta'];

/** The headers of an HTTP request. */
export type Headers = Readonly<Record<string, unknown>>;

/** A request of a client: its method, parameters and id. */
interface ServedRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly id: unknown;
  readonly caller: Caller;
}

/** What a traced gateway knows of its surroundings. */
export interface TracingOptions {
  /** The attributes of the connection to a server: `network.…`, `server.…`. */
  readonly peerOf: (server: string) => Attributes;
  /** Names of baggage entries that may go on to servers. */
  readonly baggage: readonly string[];
}

/** Wraps the two ends of a gateway in spans. */
export class Tracing {
  readonly #tracer = trace.getTracer(NAME, VERSION);
  readonly #served = seconds('mcp.server.operation.duration', 'Duration of requests of clients.');
  readonly #sent = seconds('mcp.client.operation.duration', 'Duration of requests to servers.');
  readonly #sessions = {
    server: seconds('mcp.server.session.duration', 'How long clients stayed connected.'),
    client: seconds('mcp.client.session.duration', 'How long connections to servers were open.'),
  };
  readonly #options: TracingOptions;
  /** The transport that clients use. */
  #transport: Attributes = PIPE;

  constructor(options: TracingOptions) {
    this.#options = options;
  }

  /** Says that clients come over HTTP. */
  overHttp(): void {
    this.#transport = HTTP;
  }

  /** Records how long a session was open, until the returned function is called. */
  session(side: 'server' | 'client', server?: string): () => void {
    const started = elapsedNow();
    const attributes = server === undefined ? this.#transport : this.#peer(server);
    return () => this.#sessions[side].record((elapsedNow() - started) / 1_000, attributes);
  }

  /**
   * Runs work in the trace that an HTTP request belongs to. Baggage stays behind: what proxies say of a request is
   * none of a server's business.
   */
  within<T>(headers: Headers, work: () => T): T {
    const sender = trace.getSpanContext(extracted(headers));
    return sender ? context.with(trace.setSpanContext(ROOT_CONTEXT, sender), work) : work();
  }

  /** The ids of the span that the running code belongs to, as logs name them. */
  readonly ids = (): Record<string, string> | undefined => {
    const span = trace.getActiveSpan()?.spanContext();
    return span && { trace_id: span.traceId, span_id: span.spanId };
  };

  /** Wraps what runs the tools that a client calls. */
  serving(run: RunTool): RunTool {
    return (name, args, context) => {
      // A client may ask for a name of any length.
      const shown = name.slice(0, LIMITS.names.shown);
      return this.#in(
        {
          ...this.#servedBy(context.caller, context.id),
          name: `tools/call ${shown}`,
          named: toolCall(shown),
          meta: context.meta,
        },
        (meta) => run(name, args, { ...context, meta }),
        (result) => (result.isError ? { error: failureOf(result.content?.[0]?.text) } : undefined),
      );
    };
  }

  /** Runs what answers a request other than a call of a tool. `work` gets the parameters to go on with. */
  request<T>({ method, params, id, caller }: ServedRequest, work: (params: ServedRequest['params']) => Promise<T>) {
    const meta = params?._meta as Meta;
    const prompt = method === 'prompts/get' ? String(params?.name ?? '').slice(0, LIMITS.names.shown) : undefined;
    const named = { 'mcp.method.name': method, ...(prompt !== undefined && { 'gen_ai.prompt.name': prompt }) };
    return this.#in(
      { ...this.#servedBy(caller, id), name: prompt === undefined ? method : `${method} ${prompt}`, named, meta },
      (own) => work({ ...params, _meta: own }),
      () => undefined,
    );
  }

  /** Wraps what sends a call to a server. */
  sending(send: Handler): Handler {
    return (call) => {
      const { server, tool, item, meta } = call;
      const [name, named] = item === undefined ? [`tools/call ${tool}`, toolCall(tool)] : itemRead(item);
      return this.#in(
        { kind: SpanKind.CLIENT, durations: this.#sent, name, named, attributes: this.#peer(server), once: {}, meta },
        (own) => send({ ...call, meta: own }),
        (result) => {
          if (!result.success) return { error: result.error.code };
          return result.data.isError ? { error: TOOL_ERROR } : undefined;
        },
      );
    };
  }

  #servedBy({ revision, session }: Caller, id: unknown) {
    return {
      kind: SpanKind.SERVER,
      durations: this.#served,
      attributes: { ...this.#transport, ...(revision !== undefined && { 'mcp.protocol.version': revision }) },
      once: {
        ...(id !== undefined && { 'jsonrpc.request.id': String(id).slice(0, LIMITS.names.shown) }),
        // A session id lets its holder in where authentication is off, so only a hash is told.
        ...(session !== undefined && this.#transport === HTTP && { 'mcp.session.id': hashed(session) }),
      },
    };
  }

  #peer(server: string): Attributes {
    return { 'anygpt.server': server, ...this.#options.peerOf(server) };
  }

  async #in<Result>(
    { name, kind, attributes, named, once, meta, durations }: Operation,
    run: (meta: Meta) => Promise<Result>,
    failed: (result: Result) => Failed | undefined,
  ): Promise<Result> {
    const around = trace.getSpanContext(context.active());
    const isNamed = typeof meta?.traceparent === 'string';
    const parent = isNamed ? extracted(meta) : context.active();
    // The conventions want the HTTP request as a link where the message names another parent.
    const links = kind === SpanKind.SERVER && isNamed && around ? [{ context: around }] : [];
    const started = elapsedNow();
    const span = this.#tracer.startSpan(
      name,
      { kind, attributes: { ...attributes, ...named, ...once }, links },
      parent,
    );
    const inside = trace.setSpan(parent, span);
    let failure: Failed | undefined;
    try {
      const result = await context.with(inside, () => run(this.#handedOn(meta, inside)));
      failure = failed(result);
      return result;
    } catch (thrown) {
      const rpc = rpcCode(thrown) ?? rpcCode(Object(thrown).cause);
      failure = { error: codeOf(thrown) ?? rpc ?? '_OTHER', rpc };
      throw thrown;
    } finally {
      const outcome = failure && {
        'error.type': failure.error,
        ...(failure.rpc !== undefined && { 'rpc.response.status_code': failure.rpc }),
      };
      if (outcome) span.setAttributes(outcome).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      // Names that do not exist are made up by callers, and each would become a series.
      const exists = !/_NOT_FOUND$|^-\d+$/.test(failure?.error ?? '');
      const { 'mcp.method.name': method } = named;
      const what = exists ? named : { 'mcp.method.name': method };
      durations.record((elapsedNow() - started) / 1_000, { ...attributes, ...what, ...outcome });
    }
  }

  /** `_meta` with our span as the parent of what comes next, and the baggage that may go on. */
  #handedOn(meta: Meta, inside: Context): Meta {
    const own: Record<string, unknown> = { ...meta };
    delete own.baggage;
    const given = propagation.getBaggage(extracted(meta ?? {}));
    const kept = this.#options.baggage.flatMap((key) => {
      const entry = given?.getEntry(key);
      return entry ? [[key, entry] as const] : [];
    });
    const outgoing = propagation.setBaggage(inside, propagation.createBaggage(Object.fromEntries(kept)));
    propagation.inject(outgoing, own, {
      set: (carrier, key, value) => {
        carrier[key] = value;
      },
    });
    return own;
  }
}

interface Failed {
  readonly error: string;
  /** The code of a JSON-RPC error. */
  readonly rpc?: string | undefined;
}

interface Operation {
  readonly name: string;
  readonly kind: SpanKind;
  /** Of the span and of the duration. */
  readonly attributes: Attributes;
  /** What was asked for; reported with the duration where it exists. */
  readonly named: Attributes;
  /** Of the span alone. */
  readonly once: Attributes;
  readonly meta: Meta;
  readonly durations: Histogram;
}

const NAME = '@anygpt/discovery';
const TOOL_ERROR = 'tool_error';
/** The two ways to a peer. */
export const PIPE: Attributes = { 'network.transport': 'pipe' };
export const HTTP: Attributes = { 'network.transport': 'tcp', 'network.protocol.name': 'http' };

const hashed = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);

const codeOf = (thrown: unknown): string | undefined => {
  const code = Object(thrown).code;
  return ERROR_CODES.find((one) => one === code);
};

const rpcCode = (thrown: unknown): string | undefined => {
  const code = Object(thrown).code;
  return Number.isSafeInteger(code) ? String(code) : undefined;
};

const toolCall = (tool: string): Attributes => ({
  'mcp.method.name': 'tools/call',
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': tool,
});

/** Addresses of resources may hold secrets, so they are not reported. */
const itemRead = ({ kind, id }: ItemRef): [string, Attributes] =>
  kind === 'prompt'
    ? [`prompts/get ${id}`, { 'mcp.method.name': 'prompts/get', 'gen_ai.prompt.name': id }]
    : ['resources/read', { 'mcp.method.name': 'resources/read' }];

const seconds = (name: string, description: string): Histogram =>
  metrics
    .getMeter(NAME, VERSION)
    .createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: [...SECONDS] } });

/** The trace context in `_meta` or headers. */
const extracted = (carrier: Headers): Context =>
  propagation.extract(ROOT_CONTEXT, carrier, { get: textOf, keys: (all) => Object.keys(all) });

const textOf = (carrier: Headers, key: string): string | undefined => {
  const value = carrier[key];
  return typeof value === 'string' ? value : undefined;
};

/** The code of a failure of ours, or that of a tool that reports an error. */
function failureOf(text: string | undefined): string {
  const code = /^\{"success":false,"error":\{"code":"([A-Z_]{1,40})"/.exec(text ?? '')?.[1];
  return ERROR_CODES.find((one) => one === code) ?? TOOL_ERROR;
}
