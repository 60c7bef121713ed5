/**
 * Counts calls by server, outcome and error code, and how long they took.
 * @module
 */
import type { AuditEntry } from '../audit/audit-entry.ts';
import type { Metrics } from './metric-families.ts';

/** The buckets of the MCP conventions for durations, in seconds. */
export const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const;

/**
 * Returns a recorder that counts calls.
 * @param isServer tells whether a server has this name. Callers may invent names, and each would become a series.
 */
export function callMetrics(metrics: Metrics, isServer: (name: string) => boolean) {
  const calls = metrics.counter('anygpt_calls_total', 'Calls of tools, resources and prompts by outcome.', [
    'server',
    'outcome',
    'code',
  ]);
  const durations = metrics.histogram(
    'anygpt_call_duration_seconds',
    'Duration of calls that reached a server, including waits and the start of the server.',
    SECONDS,
    ['server'],
  );
  const connects = metrics.histogram(
    'anygpt_connect_duration_seconds',
    'How long calls waited for a connection that had to be opened.',
    SECONDS,
    ['server'],
  );
  const bytes = metrics.counter('anygpt_call_bytes_total', 'Size of arguments (in) and results (out) as JSON.', [
    'server',
    'direction',
  ]);
  return {
    record({ server: asked, outcome, code, sent, durationMs, connectMs, bytesIn, bytesOut, count }: AuditEntry): void {
      const server = isServer(asked) ? asked : '';
      calls.add([server, outcome, code ?? ''], count ?? 1);
      if (sent) durations.observe(durationMs / 1_000, [server]);
      if (connectMs !== undefined) connects.observe(connectMs / 1_000, [server]);
      if (bytesIn !== undefined) bytes.add([server, 'in'], bytesIn);
      if (bytesOut !== undefined) bytes.add([server, 'out'], bytesOut);
    },
  };
}
