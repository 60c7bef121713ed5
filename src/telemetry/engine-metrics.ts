/**
 * Reads the state of an engine and of its process at each scrape. Connects to no server.
 * @module
 */
import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Cluster } from '../cluster/cluster.ts';
import { serverIn } from '../core/owned-key.ts';
import { VERSION } from '../core/version.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { definitionTokens } from '../meta-tools/definition-tokens.ts';
import { metaToolDefinitions } from '../meta-tools/meta-tools.ts';
import type { Metrics, Reading } from './metric-families.ts';

/** Adds the numbers of an engine. */
export function engineMetrics(metrics: Metrics, engine: EngineCore): void {
  const { runtime } = engine;
  const states = ['connected', 'disconnected', 'error'];
  metrics.gauge('anygpt_servers', 'Enabled servers by state.', ['status'], async () => {
    const servers = await engine.listServers();
    return states.map((state) => [[state], servers.filter(({ status }) => status === state).length]);
  });
  metrics.gauge('anygpt_tools', 'Tools that may be used.', ['server'], async () =>
    (await engine.listServers()).map(({ name, enabledCount }) => [[name], enabledCount]),
  );
  // Metrics never name users, so users with their own credentials are counted together.
  metrics.gauge('anygpt_calls_running', 'Calls that hold a slot of their server.', ['server'], () =>
    Array.from(runtime.executions.gates?.slots.load() ?? [], ({ server, running }) => [[serverIn(server)], running]),
  );
  metrics.gauge('anygpt_calls_waiting', 'Calls that wait for a slot of their server.', ['server'], () =>
    Array.from(runtime.executions.gates?.slots.load() ?? [], ({ server, waiting }) => [[serverIn(server)], waiting]),
  );
  metrics.gauge('anygpt_breaker_open', 'Servers that keep failing and are not called for now.', ['server'], () =>
    Array.from(new Set(runtime.executions.gates?.breakers.open().map(serverIn)), (server) => [[server], 1]),
  );
  metrics.gauge(
    'anygpt_catalog_lookups',
    'Cache hits and misses of the last thirty days, of all gateways that share the cache.',
    ['result'],
    async () => {
      const { hits, misses } = await engine.cacheStats();
      return [
        [['hit'], hits],
        [['miss'], misses],
      ];
    },
  );
  const tokens = definitionTokensOf(engine);
  metrics.gauge(
    'anygpt_definition_tokens',
    'About how many tokens definitions cost in each request to a model: of all tools, and of the five shown instead.',
    ['shown'],
    async () => {
      const servers = await tokens();
      const five = metaToolDefinitions([...servers.keys()]);
      return [
        [['all'], [...servers.values()].reduce((sum, own) => sum + own, 0)],
        [['five'], five.reduce((sum, tool) => sum + definitionTokens(tool), 0)],
      ];
    },
  );
  metrics.gauge(
    'anygpt_server_definition_tokens',
    'About how many tokens the definitions of a server would cost in each request to a model.',
    ['server'],
    async () => Array.from(await tokens(), ([server, own]) => [[server], own]),
  );
  clusterMetrics(metrics, engine);
  processMetrics(metrics);
}

/** Adds what a replica knows of the others. A gateway that stands alone passes nothing on and has no other series. */
function clusterMetrics(metrics: Metrics, { runtime }: EngineCore): void {
  const own = (read: (cluster: Cluster) => Reading) => () => {
    const { current } = runtime.cluster;
    return current ? read(current) : [];
  };
  const isUp = own(({ link }) => [[[], link.isUp ? 1 : 0]]);
  metrics.gauge('anygpt_cluster_redis_up', 'Whether Redis answers this replica.', [], isUp);
  const size = own((cluster) => [[[], cluster.size]]);
  metrics.gauge('anygpt_cluster_replicas', 'Replicas when Redis last answered, this one included.', [], size);
  metrics.gauge(
    'anygpt_cluster_requests_total',
    'Requests that were passed on to another replica, and taken from one.',
    ['direction'],
    () => {
      const { passed = 0, taken = 0 } = runtime.cluster.current?.relay.counts ?? {};
      return [
        [['passed'], passed],
        [['taken'], taken],
      ];
    },
    'counter',
  );
  metrics.gauge(
    'anygpt_cluster_messages_dropped_total',
    'Messages to this replica that were forged, repeated or damaged.',
    [],
    own(({ bus }) => [[[], bus.dropped]]),
    'counter',
  );
}

/** Tokens by server, counted again only when lists have changed. */
function definitionTokensOf(engine: EngineCore): () => Promise<ReadonlyMap<string, number>> {
  let counted: { readonly from: string; readonly tokens: ReadonlyMap<string, number> } | undefined;
  return async () => {
    const servers = await engine.listServers();
    const from = JSON.stringify(servers.map(({ name, listedAt, enabledCount }) => [name, listedAt, enabledCount]));
    if (counted?.from !== from) {
      const tokens = new Map(servers.map(({ name }) => [name, 0]));
      for (const { catalog } of engine.states)
        for (const [name, others] of tokens) {
          await catalog.load(name);
          const own = catalog.tools(name).map((tool) => tokensOf(catalog.definition(name, tool.name)));
          tokens.set(
            name,
            own.reduce((sum, one) => sum + one, others),
          );
        }
      counted = { from, tokens };
    }
    return counted.tokens;
  };
}

const tokensOf = (tool: Parameters<typeof definitionTokens>[0] | undefined): number =>
  tool === undefined ? 0 : definitionTokens(tool);

/** Adds what a process tells of itself. */
function processMetrics(metrics: Metrics): void {
  metrics.gauge('anygpt_build_info', 'The version that runs.', ['version'], () => [[[VERSION], 1]]);
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', [], () => [[[], process.memoryUsage.rss()]]);
  const heap = () => process.memoryUsage().heapUsed;
  metrics.gauge('nodejs_heap_size_used_bytes', 'Memory of objects, garbage included.', [], () => [[[], heap()]]);
  const resources = () => process.getActiveResourcesInfo().length;
  metrics.gauge('nodejs_active_resources', 'Timers, sockets, pipes and other handles.', [], () => [[[], resources()]]);
  metrics.gauge('process_open_fds', 'Open file descriptors, where the system lists them.', [], openFiles);
  const cpu = 'process_cpu_seconds_total';
  const cpuSeconds = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
  metrics.gauge(cpu, 'Processor time.', [], () => [[[], cpuSeconds()]], 'counter');
  metrics.gauge('process_uptime_seconds', 'Seconds since the start.', [], () => [[[], process.uptime()]]);
  const delay = monitorEventLoopDelay();
  delay.enable();
  metrics.gauge('nodejs_eventloop_lag_p99_seconds', 'Delay of the event loop since the last scrape.', [], () => {
    const p99 = delay.percentile(99) / 1e9;
    delay.reset();
    return [[[], p99]];
  });
}

/** Linux lists the descriptors of a process. */
function openFiles(): Reading {
  try {
    return [[[], readdirSync('/proc/self/fd').length]];
  } catch {
    return [];
  }
}
