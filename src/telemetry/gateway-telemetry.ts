/**
 * Opens the telemetry of a gateway: metrics for `/metrics`, and traces if the environment asks for them.
 * @module
 */
import type { EngineCore } from '../engine/engine-core.ts';
import type { CallObserver } from '../execution/call-observer.ts';
import type { RunTool } from '../meta-tools/run-tool.ts';
import { callMetrics } from './call-metrics.ts';
import { engineMetrics } from './engine-metrics.ts';
import { Metrics } from './metric-families.ts';
import type { Headers } from './tracing.ts';
import { wantsOpenTelemetry } from './wants-open-telemetry.ts';

/** The telemetry of a gateway. */
export interface GatewayTelemetry {
  /** For the engine. */
  readonly observer: CallObserver;
  /** Adds the metrics of an engine. Returns a function that writes all metrics as Prometheus text. */
  metricsOf(engine: EngineCore): () => Promise<string>;
  /** Traces the tools that clients call. */
  serving(run: RunTool): RunTool;
  /** Runs work in the trace that an HTTP request belongs to. */
  within<T>(headers: Headers, work: () => T): T;
  /** The ids of the trace and the span that the running code belongs to, for log messages. */
  ids(): Record<string, string> | undefined;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Traces only if `OTEL_…` variables ask for them: the API and an SDK take a while to load. */
export async function openGatewayTelemetry(
  env: Readonly<Record<string, string | undefined>>,
  say: (message: string) => void,
): Promise<GatewayTelemetry> {
  const sdk = wantsOpenTelemetry(env) ? await (await import('./open-telemetry.ts')).openTelemetry(say) : undefined;
  const metrics = new Metrics();
  let watched: EngineCore | undefined;
  const calls = callMetrics(metrics, (name) => watched?.states.some(({ servers }) => servers.has(name)) ?? false);
  return {
    observer: { record: calls.record, sending: (send) => sdk?.tracing.sending(send) ?? send },
    metricsOf: (engine) => {
      watched = engine;
      engineMetrics(metrics, engine);
      return () => metrics.text();
    },
    serving: (run) => sdk?.tracing.serving(run) ?? run,
    within: (headers, work) => (sdk ? sdk.tracing.within(headers, work) : work()),
    ids: () => sdk?.tracing.ids(),
    close: async () => sdk?.close(),
  };
}
