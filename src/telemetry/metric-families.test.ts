import { expect, it } from 'vitest';
import { LIMITS } from '../core/limits.ts';
import { callMetrics } from './call-metrics.ts';
import { Metrics } from './metric-families.ts';

it('counters, gauges and histograms are written as Prometheus text', async () => {
  const metrics = new Metrics();
  const calls = metrics.counter('calls_total', 'Calls.', ['server']);
  calls.add(['a']);
  calls.add(['a'], 2);
  calls.add(['b']);
  metrics.gauge('open', 'Open.', [], () => [[[], 7]]);
  const seconds = metrics.histogram('seconds', 'Seconds.', [0.1, 1], ['server']);
  for (const one of [0.05, 0.1, 0.5, 3]) seconds.observe(one, ['a']);
  expect(await metrics.text()).toBe(`# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{server="a"} 3
calls_total{server="b"} 1
# HELP open Open.
# TYPE open gauge
open 7
# HELP seconds Seconds.
# TYPE seconds histogram
seconds_bucket{server="a",le="0.1"} 2
seconds_bucket{server="a",le="1"} 3
seconds_bucket{server="a",le="+Inf"} 4
seconds_sum{server="a"} 3.65
seconds_count{server="a"} 4
`);
});

it('a label cannot break out of its quotes or its line', async () => {
  const metrics = new Metrics();
  metrics.counter('calls_total', 'Calls.', ['server']).add(['a"} 1\nforged{x="\\']);
  expect((await metrics.text()).split('\n')[2]).toBe('calls_total{server="a\\"} 1\\nforged{x=\\"\\\\"} 1');
});

it('a family has a bounded number of series; what is beyond it is counted together', async () => {
  const metrics = new Metrics();
  const calls = metrics.counter('calls_total', 'Calls.', ['server']);
  const many = LIMITS.telemetry.series + 50;
  for (let at = 0; at < many; at++) calls.add([`s${at}`]);
  const lines = (await metrics.text()).split('\n').slice(2, -1);
  expect(lines).toHaveLength(LIMITS.telemetry.series + 1);
  expect(lines.at(-1)).toBe('calls_total{server="other"} 50');
});

it('calls are counted by server, outcome and code; a server that nobody configured gets no series', async () => {
  const metrics = new Metrics();
  const recorder = callMetrics(metrics, (name) => name === 'github');
  const entry = { time: new Date(0), traceId: 't', tool: 'x', durationMs: 20 };
  recorder.record({
    ...entry,
    server: 'github',
    outcome: 'success',
    sent: true,
    bytesIn: 2,
    bytesOut: 10,
    connectMs: 5,
  });
  recorder.record({ ...entry, server: 'github', outcome: 'failed', code: 'TOOL_EXECUTION_ERROR', sent: true });
  for (const server of ['made up', 'made up too'])
    recorder.record({ ...entry, server, outcome: 'refused', code: 'SERVER_NOT_FOUND', sent: false });
  const text = await metrics.text();
  expect(text).toContain('anygpt_calls_total{server="github",outcome="success",code=""} 1\n');
  expect(text).toContain('anygpt_calls_total{server="github",outcome="failed",code="TOOL_EXECUTION_ERROR"} 1\n');
  expect(text).toContain('anygpt_calls_total{server="",outcome="refused",code="SERVER_NOT_FOUND"} 2\n');
  expect(text).toContain('anygpt_call_duration_seconds_count{server="github"} 2\n');
  expect(text).toContain('anygpt_connect_duration_seconds_count{server="github"} 1\n');
  expect(text).toContain('anygpt_call_bytes_total{server="github",direction="out"} 10\n');
  expect(text).not.toContain('made up');
});
