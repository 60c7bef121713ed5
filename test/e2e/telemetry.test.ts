/** Traces and durations reach a collector, as the standard variables say, through every hop. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { sdkClient } from '../fixtures/gateway/kit.ts';
import { RawGateway } from './raw-gateway.ts';
import { Sandbox, until } from './sandbox.ts';
import { entry, fixture } from './servers.ts';

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

/** A collector for OTLP over HTTP with JSON. */
async function startCollector(sandbox: Sandbox) {
  const spans: OtlpSpan[] = [];
  const metrics = new Set<string>();
  const read = async (request: IncomingMessage) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    return JSON.parse(text);
  };
  const server = createServer(async (request, response) => {
    const body = await read(request);
    for (const resource of body.resourceSpans ?? [])
      for (const { spans: own } of resource.scopeSpans) spans.push(...own);
    for (const resource of body.resourceMetrics ?? [])
      for (const { metrics: own } of resource.scopeMetrics) for (const { name } of own) metrics.add(name);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  sandbox.closeLater(() => new Promise((resolve) => server.close(resolve)));
  return { spans, metrics, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A world whose environment asks for telemetry, sent soon. */
class Traced extends Sandbox {
  endpoint = '';

  override get env(): Record<string, string> {
    return {
      ...super.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: this.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_METRIC_EXPORT_INTERVAL: '200',
      OTEL_METRIC_EXPORT_TIMEOUT: '100',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    };
  }
}

it('a call is traced from the client to the server: parents come from _meta, and our own span is handed on', async () => {
  await using sandbox = new Traced();
  const collector = await startCollector(sandbox);
  sandbox.endpoint = collector.url;
  const config = sandbox.write({ servers: [entry('echo', [fixture('telemetry/meta.mjs')])] });
  const gateway = new RawGateway(sandbox, config);
  await gateway.initialize();
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = '00f067aa0ba902b7';
  const _meta = { traceparent: `00-${traceId}-${parent}-01`, tracestate: 'vendor=1' };
  const { result } = await gateway.request('tools/call', { ...RawGateway.execute('echo', 'meta'), _meta });
  await gateway.request('tools/call', RawGateway.execute('nowhere', 'x'));
  await until('spans and durations arrive', () => collector.spans.length >= 3 && collector.metrics.size >= 2);
  const spanOf = (name: string, kind: number, error?: string) =>
    collector.spans.find((span) => {
      const failed = span.attributes.find(({ key }) => key === 'error.type')?.value.stringValue;
      return span.name === name && span.kind === kind && failed === error;
    });
  const served = spanOf('tools/call execute_tool', 2);
  const sent = spanOf('tools/call meta', 3);
  expect(served).toMatchObject({ traceId, parentSpanId: parent });
  expect(sent).toMatchObject({ traceId, parentSpanId: served?.spanId });
  const [block] = (result?.content ?? []) as { text: string }[];
  const handedOn = { traceparent: `00-${traceId}-${sent?.spanId}-01`, tracestate: 'vendor=1' };
  expect(JSON.parse(block?.text ?? '')).toMatchObject(handedOn);
  expect(spanOf('tools/call execute_tool', 2, 'SERVER_NOT_FOUND')).toBeDefined();
  expect([...collector.metrics].sort()).toEqual(['mcp.client.operation.duration', 'mcp.server.operation.duration']);
});

it('the trace of an HTTP request is the parent of a call, or its link where _meta names another; logs name the trace', async () => {
  await using sandbox = new Traced();
  const collector = await startCollector(sandbox);
  sandbox.endpoint = collector.url;
  const config = sandbox.write({
    log: { level: 'debug', format: 'json' },
    servers: [entry('echo', [fixture('telemetry/meta.mjs')]), entry('gone', ['-e', 'process.exit(3)'])],
  });
  const gateway = new RawGateway(sandbox, config, '--http', '0');
  const [url = ''] = (await until('the address is said', () => /http:\S+\/mcp/.exec(gateway.stderr))) ?? [];
  const http = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  const own = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) };
  const traceparent = (of: typeof http) => `00-${of.traceId}-${of.spanId}-01`;
  const headers = { traceparent: traceparent(http), baggage: 'of=proxy' };
  for (const era of ['modern', 'legacy'] as const) {
    collector.spans.length = 0;
    const client = sdkClient(era);
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never);
    const { name, arguments: args } = RawGateway.execute('echo', 'meta');
    const plain = await client.callTool({ name, arguments: args as never });
    await client.callTool({ name, arguments: args as never, _meta: { traceparent: traceparent(own) } });
    await client.callTool({ name, arguments: { server: 'gone', tool: 'x', arguments: {} } });
    await client.close();
    const served = () => collector.spans.filter(({ kind, name: of }) => kind === 2 && of.endsWith('execute_tool'));
    await until('three spans arrive', () => served().length === 3);
    const of = (trace: string) => served().find(({ traceId }) => traceId === trace);
    expect(of(http.traceId)?.parentSpanId).toBe(http.spanId);
    expect(of(own.traceId)).toMatchObject({ parentSpanId: own.spanId, links: [http] });
    expect(JSON.stringify(plain)).toContain(`00-${http.traceId}-`);
    expect(JSON.stringify(plain)).not.toContain('of=proxy');
  }
  const logged = gateway.stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  expect(logged.some(({ trace_id, level, time }) => trace_id === http.traceId && level && time)).toBe(true);
});

it('the numbers of a gateway are served as Prometheus text, on a port of their own', async () => {
  await using sandbox = new Sandbox();
  const config = sandbox.write({ servers: [entry('echo', [fixture('telemetry/meta.mjs')])] });
  const gateway = new RawGateway(sandbox, config, '--metrics', '0');
  await gateway.initialize();
  await gateway.request('tools/call', RawGateway.execute('echo', 'meta'));
  await gateway.request('tools/call', RawGateway.execute('nowhere', 'x'));
  const [url = ''] = (await until('the address is said', () => /http:\S+\/metrics/.exec(gateway.stderr))) ?? [];
  const numbers = async (headers: Record<string, string> = {}, path = url) => fetch(path, { headers });
  const answer = await numbers();
  const text = await answer.text();
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  expect(text).toContain('anygpt_calls_total{server="echo",outcome="success",code=""} 1\n');
  expect(text).toContain('anygpt_calls_total{server="",outcome="refused",code="SERVER_NOT_FOUND"} 1\n');
  expect(text).toContain('anygpt_call_duration_seconds_count{server="echo"} 1\n');
  expect(text).toContain('anygpt_servers{status="connected"} 1\n');
  expect(text).toContain('anygpt_tools{server="echo"} 1\n');
  expect(text).toMatch(/anygpt_definition_tokens\{shown="five"\} [1-9]\d+\n/);
  expect(text).toMatch(/process_resident_memory_bytes [1-9]\d+\n/);
  for (const line of text.trim().split('\n'))
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) |[a-z_0-9]+(?:\{[^}]*\})? \S+$)/);
  expect((await numbers({}, url.replace('/metrics', '/'))).status).toBe(404);
});
