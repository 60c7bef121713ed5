/** Traces and durations reach a collector, as the standard variables say, through every hop. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { startTestServer } from '../../src/testing/index.ts';
import { sdkClient } from '../fixtures/gateway/kit.ts';
import { RawGateway } from './raw-gateway.ts';
import { Sandbox, until } from './sandbox.ts';
import { entry, everything, fixture } from './servers.ts';

const OPERATIONS = ['mcp.client.operation.duration', 'mcp.server.operation.duration'];
/** In seconds, as the conventions say. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: readonly Attribute[];
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface OtlpMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: {
    readonly dataPoints: readonly { readonly attributes: readonly Attribute[]; readonly explicitBounds: number[] }[];
  };
}

/** Attributes as an object. */
const shown = (attributes: readonly Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

/** A collector for OTLP over HTTP with JSON. */
async function startCollector(sandbox: Sandbox) {
  const spans: OtlpSpan[] = [];
  const metrics = new Map<string, OtlpMetric>();
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
      for (const { metrics: own } of resource.scopeMetrics) for (const one of own) metrics.set(one.name, one);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  sandbox.closeLater(() => new Promise((resolve) => server.close(resolve)));
  return { spans, metrics, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A world whose environment asks for telemetry, sent soon. */
class Traced extends Sandbox {
  endpoint = '';
  more: Record<string, string> = {};

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
      ...this.more,
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
  await until(
    'spans and durations arrive',
    () => collector.spans.length >= 3 && OPERATIONS.every((name) => collector.metrics.has(name)),
  );
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
  gateway.child.stdin.end();
  await gateway.exited;
  const sessions = ['mcp.client.session.duration', 'mcp.server.session.duration'];
  expect([...collector.metrics.keys()].sort()).toEqual([...OPERATIONS, ...sessions].sort());
  for (const { unit, histogram } of collector.metrics.values()) {
    expect(unit).toBe('s');
    expect(histogram?.dataPoints[0]?.explicitBounds).toEqual(BUCKETS);
  }
});

it('spans have the attributes of the conventions; no duration is reported under a name that a caller made up', async () => {
  await using sandbox = new Traced();
  const collector = await startCollector(sandbox);
  sandbox.endpoint = collector.url;
  await using remote = await startTestServer({ tools: { hello: { call: () => 'hello' } } });
  const config = sandbox.write({
    servers: [
      entry('echo', [fixture('telemetry/meta.mjs')]),
      { name: 'remote', connection: { type: 'http', url: remote.url } },
    ],
  });
  const gateway = new RawGateway(sandbox, config, '--http', '0');
  const [url = ''] = (await until('the address is said', () => /http:\S+\/mcp/.exec(gateway.stderr))) ?? [];
  const client = sdkClient('legacy');
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport as never);
  const execute = (server: string, tool: string) => {
    const { name, arguments: args } = RawGateway.execute(server, tool);
    return client.callTool({ name, arguments: args as never });
  };
  await client.listTools();
  await execute('echo', 'meta');
  await execute('remote', 'hello');
  await client.callTool({ name: 'made-up-name', arguments: {} }).catch(() => {});
  const find = (name: string, kind: number) =>
    collector.spans.find((span) => span.name === name && span.kind === kind)?.attributes;
  await until('all spans arrive', () => find('tools/call made-up-name', 2) && find('tools/call hello', 3));
  const http = { 'network.transport': 'tcp', 'network.protocol.name': 'http' };
  const session = createHash('sha256').update(String(transport.sessionId)).digest('hex').slice(0, 32);
  const said = { 'mcp.protocol.version': '2025-11-25', 'mcp.session.id': session, ...http };
  expect(shown(find('tools/list', 2))).toEqual({
    'mcp.method.name': 'tools/list',
    'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
    ...said,
  });
  expect(shown(find('tools/call execute_tool', 2))).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'execute_tool',
    'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
    ...said,
  });
  expect(shown(find('tools/call meta', 3))).toMatchObject({ 'anygpt.server': 'echo', 'network.transport': 'pipe' });
  const { hostname, port } = new URL(remote.url);
  expect(shown(find('tools/call hello', 3))).toMatchObject({
    'anygpt.server': 'remote',
    'server.address': hostname,
    'server.port': Number(port),
    ...http,
  });
  expect(shown(find('tools/call made-up-name', 2))).toMatchObject({ 'error.type': 'TOOL_NOT_FOUND' });
  await until('the failure is counted', () => {
    const { histogram } = collector.metrics.get('mcp.server.operation.duration') ?? {};
    return histogram?.dataPoints.some(({ attributes }) => shown(attributes)['error.type'] === 'TOOL_NOT_FOUND');
  });
  for (const { histogram } of collector.metrics.values())
    for (const { attributes } of histogram?.dataPoints ?? []) {
      expect(JSON.stringify(attributes)).not.toContain('made-up');
      expect(shown(attributes)).not.toHaveProperty('jsonrpc.request.id');
      expect(shown(attributes)).not.toHaveProperty('mcp.session.id');
    }
});

it('baggage goes on to servers only under the names that the operator has listed', async () => {
  await using sandbox = new Traced();
  const collector = await startCollector(sandbox);
  sandbox.endpoint = collector.url;
  sandbox.more = { ANYGPT_BAGGAGE: 'tenant, region' };
  const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('echo', [fixture('telemetry/meta.mjs')])] }));
  await gateway.initialize();
  const baggageAfter = async (baggage: string) => {
    const params = { ...RawGateway.execute('echo', 'meta'), _meta: { baggage, own: 1 } };
    const { result } = await gateway.request('tools/call', params);
    const [block] = (result?.content ?? []) as { text: string }[];
    const meta = JSON.parse(block?.text ?? '');
    expect(meta).toMatchObject({ own: 1, traceparent: expect.any(String) });
    return meta.baggage;
  };
  expect(await baggageAfter('tenant=blue,user.email=ann%40example.com')).toBe('tenant=blue');
  expect(await baggageAfter('user.email=ann%40example.com')).toBeUndefined();
});

it('a resource that a client reads natively is traced from the client to the server', async () => {
  await using sandbox = new Traced();
  const collector = await startCollector(sandbox);
  sandbox.endpoint = collector.url;
  const gateway = new RawGateway(sandbox, sandbox.write({ servers: [everything()] }), '--expose', 'everything');
  await gateway.initialize();
  const { result } = await gateway.request('resources/list');
  const [{ uri = '' } = {}] = (result?.resources ?? []) as { uri: string }[];
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const _meta = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  await gateway.request('resources/read', { uri, _meta });
  const spanOf = (kind: number) => collector.spans.find((one) => one.name === 'resources/read' && one.kind === kind);
  await until('both spans arrive', () => spanOf(2) && spanOf(3));
  expect(spanOf(2)).toMatchObject({ traceId, parentSpanId: '00f067aa0ba902b7' });
  expect(spanOf(3)).toMatchObject({ traceId, parentSpanId: spanOf(2)?.spanId });
  expect(JSON.stringify(collector.spans)).not.toContain(uri);
  collector.spans.length = 0;
  const { error } = await gateway.request('resources/read', { uri: 'demo://nothing/here' });
  await until('both spans arrive', () => spanOf(2) && spanOf(3));
  expect(shown(spanOf(2)?.attributes)['rpc.response.status_code']).toBe(String(error?.code));
  expect(shown(spanOf(3)?.attributes)).toMatchObject({ 'rpc.response.status_code': expect.stringMatching(/^-32/) });
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
  expect(text).toMatch(/anygpt_server_definition_tokens\{server="echo"\} [1-9]\d*\n/);
  expect(text).toContain('anygpt_server_connections{server="echo"} 1\n');
  expect(text).toContain('anygpt_client_sessions 1\n');
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'nodejs_active_resources'])
    expect(text).toMatch(new RegExp(`^${name} [1-9]\\d*$`, 'm'));
  for (const line of text.trim().split('\n'))
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) |[a-z_0-9]+(?:\{[^}]*\})? \S+$)/);
  expect((await numbers({}, url.replace('/metrics', '/'))).status).toBe(404);
});
