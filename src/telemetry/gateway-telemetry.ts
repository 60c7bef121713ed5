/**
 * Opens the telemetry of a gateway: metrics for `/metrics`, and traces if the environment asks for them.
 * @module
 */
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import { addressWords, isLocal } from '../core/transport-parts.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import type { CallObserver } from '../execution/call-observer.ts';
import type { RunTool } from '../meta-tools/run-tool.ts';
import { callMetrics } from './call-metrics.ts';
import { engineMetrics } from './engine-metrics.ts';
import { Metrics } from './metric-families.ts';
import type { Headers, Tracing } from './tracing.ts';
import { wantsOpenTelemetry } from './wants-open-telemetry.ts';

export interface GatewayTelemetry {
  /** For the engine. */
  readonly observer: CallObserver;
  /** Names the engine whose servers are reported. */
  watch(engine: EngineCore): void;
  /** Adds the metrics of the engine. Returns a function that writes all metrics as Prometheus text. */
  metrics(): () => Promise<string>;
  /** Traces the tools that clients call. */
  serving(run: RunTool): RunTool;
  /** Traces another request of a client. Undefined: traces are off. */
  readonly request: Tracing['request'] | undefined;
  /** Counts a client that is connected, until the returned function is called. */
  session(): () => void;
  /** Says that clients come over HTTP. */
  overHttp(): void;
  /** Runs work in the trace that an HTTP request belongs to. */
  within<T>(headers: Headers, work: () => T): T;
  /** The ids of the trace and the span that the running code belongs to, for log messages. */
  ids(): Record<string, string> | undefined;
  /** Sends what is left. */
  close(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Traces only if `OTEL_…` variables ask for them: the API and an SDK take a while to load. */
export async function openGatewayTelemetry(env: Env, say: (message: string) => void): Promise<GatewayTelemetry> {
  let engine: EngineCore | undefined;
  const definitionOf = (name: string) =>
    engine?.states.find(({ servers }) => servers.has(name))?.servers.get(name)?.definition;
  const sdk = wantsOpenTelemetry(env) ? await startTracing(env, definitionOf, say) : undefined;
  const tracing = sdk?.tracing;
  const metrics = new Metrics();
  const calls = callMetrics(metrics, (name) => definitionOf(name) !== undefined);
  const connections = new OpenCounts();
  const sessions = new OpenCounts();
  return {
    observer: {
      record: calls.record,
      sending: (send) => tracing?.sending(send) ?? send,
      connected: (server) => both(connections.open(server), tracing?.session('client', server)),
    },
    watch: (watched) => {
      engine = watched;
    },
    metrics: () => {
      metrics.gauge('anygpt_server_connections', 'Open connections to servers.', ['server'], () =>
        Array.from(connections, ([server, open]) => [[server], open]),
      );
      metrics.gauge('anygpt_client_sessions', 'Clients with a session: on stdio, or of the old protocol.', [], () => [
        [[], [...sessions].reduce((sum, [, open]) => sum + open, 0)],
      ]);
      if (engine) engineMetrics(metrics, engine);
      return () => metrics.text();
    },
    serving: (run) => tracing?.serving(run) ?? run,
    request: tracing && ((asked, work) => tracing.request(asked, work)),
    session: () => both(sessions.open(''), tracing?.session('server')),
    overHttp: () => tracing?.overHttp(),
    within: (headers, work) => (tracing ? tracing.within(headers, work) : work()),
    ids: () => tracing?.ids(),
    close: async () => sdk?.close(),
  };
}

type DefinitionOf = (server: string) => SourceDefinition | undefined;

async function startTracing(env: Env, definitionOf: DefinitionOf, say: (message: string) => void) {
  const { openTelemetry } = await import('./open-telemetry.ts');
  const { HTTP, PIPE } = await import('./tracing.ts');
  const peerOf = (server: string) => {
    const definition = definitionOf(server);
    if (!definition || isProvider(definition)) return {};
    if (isLocal(definition.connection)) return PIPE;
    // An address with variables in it may hold a secret.
    const [url = ''] = addressWords(definition.connection);
    if (url.includes('${') || !URL.canParse(url)) return HTTP;
    const { protocol, hostname, port } = new URL(url);
    return {
      ...HTTP,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    };
  };
  const baggage = (env.ANYGPT_BAGGAGE ?? '').split(',').flatMap((name) => name.trim() || []);
  return openTelemetry(say, { peerOf, baggage });
}

/** Calls both. */
const both = (first: () => void, second: (() => void) | undefined) => () => {
  first();
  second?.();
};

/** Numbers that go up when something opens and down when it closes. A name without anything open keeps no entry. */
class OpenCounts {
  readonly #counts = new Map<string, number>();

  /** Returns the function to call when it has closed; only the first call counts. */
  open(name: string): () => void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    let isOpen = true;
    return () => {
      const left = (this.#counts.get(name) ?? 0) - (isOpen ? 1 : 0);
      isOpen = false;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    };
  }

  [Symbol.iterator](): Iterator<[string, number]> {
    return this.#counts.entries();
  }
}
