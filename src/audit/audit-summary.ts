/**
 * Summarises calls, errors and durations from the audit files, by server and tool. Reads them as a stream, within
 * limits; unreadable lines are counted and skipped.
 * @module
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { refusalFile } from './refusal-sink.ts';
import { auditFiles } from './retention.ts';

/** Calls and their outcomes. */
export interface CallStats {
  readonly calls: number;
  /** The tool or its server reported an error, or the outcome is unknown. */
  readonly errors: number;
  /** Never sent: rules, limits, invalid arguments. */
  readonly refused: number;
  readonly cancelled: number;
  /** Milliseconds, of calls that were sent, without the wait for a connection. Absent when there was none. */
  readonly medianMs?: number | undefined;
  readonly p95Ms?: number | undefined;
  /** Calls that first waited for a connection, such as the start of a server. Absent when there was none. */
  readonly connects?: number | undefined;
  readonly connectMedianMs?: number | undefined;
}

interface ToolStats extends CallStats {
  readonly tool: string;
}

interface ServerStats extends CallStats {
  readonly server: string;
  /** Most called first. */
  readonly tools: readonly ToolStats[];
}

export interface AuditSummary {
  readonly total: CallStats;
  /** Most called first. */
  readonly servers: readonly ServerStats[];
  /** Time of the first and the last of these calls. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  /** Requests that were no call: they named no known tool, or could not be read. They are counted nowhere else. */
  readonly mistaken: number;
  /** Records that were dropped or made room for others, as the log itself reports. */
  readonly dropped: number;
  /** Unreadable lines. */
  readonly damaged: number;
  /** Why the summary is incomplete. */
  readonly incomplete?: string | undefined;
}

interface SummaryOptions {
  /** Milliseconds since 1970; earlier calls are ignored. */
  readonly since?: number | undefined;
  /** Most bytes read, the newest file first. Default 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Most tools counted separately. Default 10,000. */
  readonly maxTools?: number | undefined;
}

/** Sums the log up. A log that does not exist has no calls. */
export async function summarizeAudit(file: string, options: SummaryOptions = {}): Promise<AuditSummary> {
  const { since, maxBytes = LIMITS.audit.summaryBytes, maxTools = LIMITS.audit.summaryTools } = options;
  const tally = new Tally(since ?? Number.NEGATIVE_INFINITY, maxTools);
  let left = maxBytes;
  let incomplete: string | undefined;
  for (const { path, size, changed } of await filesOf(file)) {
    // No line of a file is newer than its last change.
    if (since !== undefined && changed < since) continue;
    const from = Math.max(0, size - left);
    if (left > 0) await readLines(path, from, (line) => tally.add(line));
    left -= size;
    if (from > 0) {
      incomplete = `only the newest ${maxBytes} bytes were read`;
      break;
    }
  }
  return { ...tally.summary(), ...(incomplete !== undefined && { incomplete }) };
}

/** Returns the log, its refusals and the rotated files, each newest first. */
async function filesOf(file: string) {
  const paths = [...(await auditFiles(file)), ...(await auditFiles(refusalFile(file)))];
  const found = await Promise.all(
    paths.map(async (path) => {
      const stats = await unlessMissing(stat(path), undefined);
      return stats?.isFile() ? [{ path, size: stats.size, changed: stats.mtimeMs }] : [];
    }),
  );
  return found.flat();
}

async function unlessMissing<T, U>(work: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Rotation may rename a file between listing and reading.
    if (code === 'ENOENT' || code === 'ENOTDIR') return otherwise;
    throw error;
  }
}

/**
 * Passes on every line that starts at or after a position. Of an overlong line only the beginning is passed on, which
 * counts as unreadable.
 */
async function readLines(path: string, from: number, onLine: (line: string) => void): Promise<void> {
  let rest = '';
  // Start one byte earlier: if it is a line end, no partial line has to be skipped.
  const start = Math.max(0, from - 1);
  let within = from > 0;
  const read = async () => {
    for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024, start })) {
      const lines = (rest + chunk).split('\n');
      if (within && lines.length > 1) {
        lines.shift();
        within = false;
      }
      rest = (lines.pop() ?? '').slice(0, LIMITS.audit.foreignLine);
      for (const line of lines) onLine(line);
    }
  };
  await unlessMissing(read(), undefined);
  if (!within) onLine(rest);
}

class Counts {
  calls = 0;
  errors = 0;
  refused = 0;
  cancelled = 0;
  connects = 0;
  readonly times = new LatencyHistogram();
  readonly connectTimes = new LatencyHistogram();

  add({ outcome, durationMs, connectMs, count }: Line): void {
    this.calls += count;
    if (connectMs !== undefined) {
      this.connects += count;
      this.connectTimes.add(connectMs);
    }
    if (outcome === 'refused') {
      this.refused += count;
      return;
    }
    if (outcome === 'cancelled') this.cancelled++;
    else if (outcome !== 'success') this.errors++;
    this.times.add(Math.max(0, durationMs - (connectMs ?? 0)));
  }

  stats(): CallStats {
    const { calls, errors, refused, cancelled, connects, times, connectTimes } = this;
    const [medianMs, p95Ms] = [times.quantile(0.5), times.quantile(0.95)].map(rounded);
    return {
      calls,
      errors,
      refused,
      cancelled,
      ...(medianMs !== undefined && { medianMs, p95Ms }),
      ...(connects > 0 && { connects, connectMedianMs: rounded(connectTimes.quantile(0.5)) }),
    };
  }
}

const rounded = (ms: number | undefined): number | undefined => (ms === undefined ? ms : Number(ms.toPrecision(3)));

const OUTCOMES: ReadonlySet<unknown> = new Set(['success', 'tool_error', 'refused', 'failed', 'unknown', 'cancelled']);

class Tally {
  readonly #since: number;
  readonly #maxTools: number;
  readonly #total = new Counts();
  readonly #servers = new Map<string, { readonly own: Counts; readonly tools: Map<string, Counts> }>();
  #toolCount = 0;
  #mistaken = 0;
  #dropped = 0;
  #damaged = 0;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  constructor(since: number, maxTools: number) {
    this.#since = since;
    this.#maxTools = maxTools;
  }

  add(line: string): void {
    if (line.trim() === '') return;
    const entry = read(line);
    // The record of the call follows, unless the process died.
    if (entry === 'sending') return;
    if (!entry) {
      this.#damaged++;
      return;
    }
    const { time, server, tool, outcome, code, count } = entry;
    if (time < this.#since) return;
    if (outcome === 'dropped') {
      this.#dropped += count;
      return;
    }
    if (outcome === 'refused' && MISTAKES.has(code)) {
      this.#mistaken += count;
      return;
    }
    this.#first = Math.min(this.#first, time);
    this.#last = Math.max(this.#last, time);
    this.#total.add(entry);
    for (const counts of this.#of(server, tool)) counts.add(entry);
  }

  summary(): AuditSummary {
    const servers = [...this.#servers].map(([server, { own, tools }]) => ({
      server,
      ...own.stats(),
      tools: [...tools].map(([tool, counts]) => ({ tool, ...counts.stats() })).sort(byCalls),
    }));
    return {
      total: this.#total.stats(),
      servers: servers.sort(byCalls),
      mistaken: this.#mistaken,
      dropped: this.#dropped,
      damaged: this.#damaged,
      ...(this.#total.calls > 0 && {
        first: new Date(this.#first).toISOString(),
        last: new Date(this.#last).toISOString(),
      }),
    };
  }

  /** Tool names are whatever agents wrote: beyond the limit only the total is counted. */
  #of(server: string, tool: string): Counts[] {
    let known = this.#servers.get(server);
    if (!known) {
      if (this.#toolCount >= this.#maxTools) return [];
      known = { own: new Counts(), tools: new Map() };
      this.#servers.set(server, known);
    }
    let counts = known.tools.get(tool);
    if (!counts) {
      if (this.#toolCount >= this.#maxTools) return [known.own];
      counts = new Counts();
      known.tools.set(tool, counts);
      this.#toolCount++;
    }
    return [known.own, counts];
  }
}

/** Refusals of requests that name no tool: a slip at the command line, or a name that an agent made up. */
const MISTAKES: ReadonlySet<unknown> = new Set(['SERVER_NOT_FOUND', 'TOOL_NOT_FOUND', 'VALIDATION_ERROR']);

const byCalls = (a: CallStats, b: CallStats): number => b.calls - a.calls;

interface Line {
  readonly time: number;
  readonly server: string;
  readonly tool: string;
  readonly outcome: string;
  readonly code?: unknown;
  readonly durationMs: number;
  readonly connectMs?: number | undefined;
  /** How many calls the line stands for. */
  readonly count: number;
}

function read(line: string): Line | 'sending' | undefined {
  try {
    const entry = JSON.parse(line) as Record<string, unknown>;
    const { time, server, tool, outcome, code, durationMs, connectMs, count = 1 } = entry;
    if (entry.event === 'sending') return 'sending';
    const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    if (!Number.isSafeInteger(count) || (count as number) < 1) return undefined;
    const many = count as number;
    if (entry.event === 'dropped' && !Number.isNaN(at))
      return { time: at, server: '', tool: '', outcome: 'dropped', durationMs: 0, count: many };
    if (Number.isNaN(at) || typeof server !== 'string' || typeof tool !== 'string') return undefined;
    if (!OUTCOMES.has(outcome) || typeof durationMs !== 'number' || !(durationMs >= 0)) return undefined;
    const waited = typeof connectMs === 'number' && connectMs >= 0 ? { connectMs } : {};
    return { time: at, server, tool, outcome: String(outcome), code, durationMs, ...waited, count: many };
  } catch {
    // Half a line, after a crash or on a full disk.
    return undefined;
  }
}
