/**
 * The audit file and those rotated away beside it in; how many calls, errors and how long they took out, by server and
 * tool. Read as a stream and within bounds; lines that cannot be understood are counted and passed over.
 * @module
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import { refusalFile } from './refusal-sink.ts';
import { auditFiles } from './retention.ts';

/** Calls and how they went. */
export interface CallStats {
  readonly calls: number;
  /** The tool or its server said no, or nobody knows. */
  readonly errors: number;
  /** Never sent: rules, limits, arguments that do not fit. */
  readonly refused: number;
  readonly cancelled: number;
  /** Milliseconds, of calls that were sent. Absent when there was none. */
  readonly medianMs?: number | undefined;
  readonly p95Ms?: number | undefined;
}

export interface ToolStats extends CallStats {
  readonly tool: string;
}

export interface ServerStats extends CallStats {
  readonly server: string;
  /** Most called first. */
  readonly tools: readonly ToolStats[];
}

export interface AuditSummary {
  readonly total: CallStats;
  /** Most called first. */
  readonly servers: readonly ServerStats[];
  /** When the first and the last of these calls were made. */
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  /** Records that were given up or had to make room, as the log itself tells. */
  readonly dropped: number;
  /** Lines that could not be understood. */
  readonly damaged: number;
  /** Why not everything was read. */
  readonly incomplete?: string | undefined;
}

export interface SummaryOptions {
  /** Milliseconds since 1970; earlier calls do not count. */
  readonly since?: number | undefined;
  /** Bytes that are read at most, the newest file first. Default 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Different tools that are told apart at most. Default 10,000. */
  readonly maxTools?: number | undefined;
}

/** Sums the log up. A log that does not exist has no calls. */
export async function summarizeAudit(file: string, options: SummaryOptions = {}): Promise<AuditSummary> {
  const { since, maxBytes = LIMITS.audit.summaryBytes, maxTools = LIMITS.audit.summaryTools } = options;
  const tally = new Tally(since ?? Number.NEGATIVE_INFINITY, maxTools);
  let left = maxBytes;
  let incomplete: string | undefined;
  for (const { path, size, changed } of await filesOf(file)) {
    // Nothing in a file is newer than its last change.
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

/** The log with its refusals and what was rotated away, of each the newest first. */
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
    // Rotation may move a file away between two looks.
    if (code === 'ENOENT' || code === 'ENOTDIR') return otherwise;
    throw error;
  }
}

/**
 * Hands over every line that begins at or after a place; of one that is too long, only its beginning, which cannot be
 * understood.
 */
async function readLines(path: string, from: number, onLine: (line: string) => void): Promise<void> {
  let rest = '';
  // One byte earlier: if that is the end of a line, nothing is left of it to pass over.
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
  readonly times = new LatencyHistogram();

  add(outcome: string, ms: number, count: number): void {
    this.calls += count;
    if (outcome === 'refused') {
      this.refused += count;
      return;
    }
    if (outcome === 'cancelled') this.cancelled++;
    else if (outcome !== 'success') this.errors++;
    this.times.add(ms);
  }

  stats(): CallStats {
    const { calls, errors, refused, cancelled, times } = this;
    const [medianMs, p95Ms] = [times.quantile(0.5), times.quantile(0.95)].map(rounded);
    return { calls, errors, refused, cancelled, ...(medianMs !== undefined && { medianMs, p95Ms }) };
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
    if (!entry) {
      this.#damaged++;
      return;
    }
    const { time, server, tool, outcome, durationMs, count } = entry;
    if (time < this.#since) return;
    if (outcome === 'dropped') {
      this.#dropped += count;
      return;
    }
    this.#first = Math.min(this.#first, time);
    this.#last = Math.max(this.#last, time);
    this.#total.add(outcome, durationMs, count);
    for (const counts of this.#of(server, tool)) counts.add(outcome, durationMs, count);
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
      dropped: this.#dropped,
      damaged: this.#damaged,
      ...(this.#total.calls > 0 && {
        first: new Date(this.#first).toISOString(),
        last: new Date(this.#last).toISOString(),
      }),
    };
  }

  /** Names are whatever agents wrote: beyond the limit only the sum counts. */
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

const byCalls = (a: CallStats, b: CallStats): number => b.calls - a.calls;

interface Line {
  readonly time: number;
  readonly server: string;
  readonly tool: string;
  readonly outcome: string;
  readonly durationMs: number;
  /** How many calls the line stands for. */
  readonly count: number;
}

function read(line: string): Line | undefined {
  try {
    const entry = JSON.parse(line) as Record<string, unknown>;
    const { time, server, tool, outcome, durationMs, count = 1 } = entry;
    const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    if (!Number.isSafeInteger(count) || (count as number) < 1) return undefined;
    const many = count as number;
    if (entry.event === 'dropped' && !Number.isNaN(at))
      return { time: at, server: '', tool: '', outcome: 'dropped', durationMs: 0, count: many };
    if (Number.isNaN(at) || typeof server !== 'string' || typeof tool !== 'string') return undefined;
    if (!OUTCOMES.has(outcome) || typeof durationMs !== 'number' || !(durationMs >= 0)) return undefined;
    return { time: at, server, tool, outcome: String(outcome), durationMs, count: many };
  } catch {
    // Half a line, after a crash or on a full disk.
    return undefined;
  }
}
