/**
 * Reports calls to OpenTelemetry by the conventions for MCP: a server span for what a client asks of us, a client span
 * for what we ask of a server, and their durations. Parents come from `_meta`, and our own span is handed on there.
 *
 * Only the API is used. Without an SDK in the process it does nothing.
 * @module
 */
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
import { ERROR_CODES, type ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ItemRef, ToolCall } from '../core/types.ts';
import { VERSION } from '../core/version.ts';
import type { Handler } from '../execution/pipeline.ts';
import type { RunTool } from '../meta-tools/run-tool.ts';
import { SECONDS } from './call-metrics.ts';

type Meta = ToolCall['meta'];

/** The headers of an HTTP request. */
export type Headers = Readonly<Record<string, unknown>>;

/** Wraps the two ends of a gateway in spans. */
export class Tracing {
  readonly #tracer = trace.getTracer(NAME, VERSION);
  readonly #served = operations('mcp.server.operation.duration', 'Duration of requests of clients.');
  readonly #sent = operations('mcp.client.operation.duration', 'Duration of requests to servers.');

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
      const { revision } = context.caller;
      // A client may ask for a name of any length.
      const shown = name.slice(0, LIMITS.names.shown);
      const attributes = { ...toolCall(shown), ...(revision !== undefined && { 'mcp.protocol.version': revision }) };
      return this.#in(
        { name: `tools/call ${shown}`, kind: SpanKind.SERVER, attributes, meta: context.meta, durations: this.#served },
        (meta) => run(name, args, { ...context, meta }),
        (result) => (result.isError ? failureOf(result.content?.[0]?.text) : undefined),
      );
    };
  }

  /** Wraps what sends a call to a server. */
  sending(send: Handler): Handler {
    return (call) => {
      const { server, tool, item } = call;
      const [name, asked] = item === undefined ? [`tools/call ${tool}`, toolCall(tool)] : itemRead(item);
      const attributes = { ...asked, 'anygpt.server': server };
      return this.#in(
        { name, kind: SpanKind.CLIENT, attributes, meta: call.meta, durations: this.#sent },
        (meta) => send({ ...call, meta }),
        (result) => (result.success ? (result.data.isError ? TOOL_ERROR : undefined) : result.error.code),
      );
    };
  }

  async #in<Result>(
    { name, kind, attributes, meta, durations }: Operation,
    run: (meta: Meta) => Promise<Result>,
    errorOf: (result: Result) => string | undefined,
  ): Promise<Result> {
    const around = trace.getSpanContext(context.active());
    const isNamed = typeof meta?.traceparent === 'string';
    const parent = isNamed ? extracted(meta) : context.active();
    // The conventions want the HTTP request as a link where the message names another parent.
    const links = kind === SpanKind.SERVER && isNamed && around ? [{ context: around }] : [];
    const started = elapsedNow();
    const span = this.#tracer.startSpan(name, { kind, attributes, links }, parent);
    const inside = trace.setSpan(parent, span);
    let error: string | undefined;
    try {
      const result = await context.with(inside, () => run(handedOn(meta, inside)));
      error = errorOf(result);
      return result;
    } catch (thrown) {
      error = (thrown as Partial<ErrorInfo> | undefined)?.code ?? '_OTHER';
      throw thrown;
    } finally {
      if (error !== undefined) {
        span.setAttribute('error.type', error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
      const outcome = error === undefined ? attributes : { ...attributes, 'error.type': error };
      durations.record((elapsedNow() - started) / 1_000, outcome);
    }
  }
}

interface Operation {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly meta: Meta;
  readonly durations: Histogram;
}

const NAME = '@anygpt/discovery';
const TOOL_ERROR = 'tool_error';

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

const operations = (name: string, description: string): Histogram =>
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

/** `_meta` with our span as the parent of what comes next. Everything else stays, as the caller wrote it. */
function handedOn(meta: Meta, inside: Context): Meta {
  const own: Record<string, unknown> = { ...meta };
  propagation.inject(inside, own, {
    set: (carrier, key, value) => {
      carrier[key] = value;
    },
  });
  return own;
}

/** The code of a failure of ours, or that of a tool that reports an error. */
function failureOf(text: string | undefined): string {
  const code = /^\{"success":false,"error":\{"code":"([A-Z_]{1,40})"/.exec(text ?? '')?.[1];
  return ERROR_CODES.find((one) => one === code) ?? TOOL_ERROR;
}
