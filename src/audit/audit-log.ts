/**
 * Writes audit records to a sink. `record` only queues: hashing and writing happen later, in small slices. A slow or
 * broken sink causes dropped lines, which are counted and reported; it never delays or fails a call.
 * @module
 */
import { ageSince, wallNow } from '../async/clock.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import type { Logger } from '../core/types.ts';
import { redactUnknown, toRedact } from '../secrets/redactor.ts';
import type { AuditEntry, AuditIntent, AuditSink } from './audit-entry.ts';
import { type FormatOptions, formatEntry } from './format-entry.ts';
import { RefusalFolds } from './refusal-folds.ts';

export interface AuditLogOptions {
  readonly sink: AuditSink;
  /** The sink for refusals, so that a flood of them pushes no other line out. Default `sink`. */
  readonly refusals?: AuditSink | undefined;
  /**
   * The key of the argument hashes. A function is called at the first record, so that nothing is created before it is
   * needed.
   */
  readonly salt: Uint8Array | (() => Promise<Uint8Array>);
  /** Also writes redacted argument values. Default false: names and hashes only. */
  readonly values?: boolean | undefined;
  /** The longest line in bytes. Default 8 KiB. */
  readonly maxLineBytes?: number | undefined;
  /** Redacts known secrets in every text that is written. */
  readonly redact?: ((text: string) => string) | undefined;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
  /** Most entries and lines in the queue. Default 10,000. */
  readonly maxQueued?: number | undefined;
  /** Most bytes of lines in the queue. Default 8 MiB. */
  readonly maxQueuedBytes?: number | undefined;
  /** Delay before retrying a failed sink, in milliseconds. Default 1,000. */
  readonly retryMs?: number | undefined;
  /** How long records are batched before writing; 0 writes each as soon as its call is answered. Default 25. */
  readonly gatherMs?: number | undefined;
  /** How long repeated refusals are counted before one line reports their number; 0 writes each. Default 5,000. */
  readonly foldMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** Counters for status pages and fail-closed callers. */
interface AuditStats {
  readonly recorded: number;
  readonly written: number;
  /** Repeated refusals that share one line. */
  readonly folded: number;
  /** Entries that will never be written. */
  readonly dropped: number;
  readonly queued: number;
  /** The last write failed, and none has succeeded since. */
  readonly failing: boolean;
}

const CHUNK_BYTES = 65_536;

interface Line {
  readonly text: string;
  readonly sink: AuditSink;
  /** Called once: the line is written, or will not be in time. */
  readonly tell?: Tell | undefined;
}
type Tell = (isWritten: boolean) => void;

/** Lines that go to the same sink together. */
interface Chunk extends Omit<Line, 'tell'> {
  readonly count: number;
  readonly bytes: number;
  readonly tell: readonly Tell[];
}

/** Writes one line per call, refusals included. The creator must close it. */
export class AuditLog {
  readonly #sink: AuditSink;
  readonly #refusals: AuditSink;
  readonly #loadSalt: () => Promise<Uint8Array>;
  readonly #format: Omit<FormatOptions, 'salt'>;
  readonly #logger: Pick<Logger, 'warn'> | undefined;
  readonly #maxQueued: number;
  readonly #maxQueuedBytes: number;
  readonly #retryMs: number;
  readonly #gatherMs: number;
  readonly #foldMs: number;
  readonly #folds: RefusalFolds;
  readonly #now: () => number;

  #salt: Promise<Uint8Array> | undefined;
  #entries: (AuditEntry | AuditIntent)[] = [];
  readonly #intents = new WeakMap<object, Tell>();
  #lines: Line[] = [];
  #lineBytes = 0;
  /** Lines being written; kept unchanged until the sink accepts them. */
  #chunk: Chunk | undefined;
  #rendering: Promise<void> | undefined;
  #writing: Promise<void> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #folding: ReturnType<typeof setTimeout> | undefined;
  #closed: Promise<void> | undefined;
  #recorded = 0;
  #folded = 0;
  #written = 0;
  #dropped = 0;
  #unreportedDrops = 0;
  #failing = false;
  #lastWarning = Number.NEGATIVE_INFINITY;

  constructor(options: AuditLogOptions) {
    const { salt } = options;
    this.#sink = options.sink;
    this.#refusals = options.refusals ?? options.sink;
    this.#loadSalt = typeof salt === 'function' ? salt : async () => salt;
    this.#format = {
      values: options.values ?? false,
      redact: toRedact(options.redact ?? redactUnknown),
      maxLineBytes: options.maxLineBytes,
    };
    this.#logger = options.logger;
    this.#maxQueued = options.maxQueued ?? DEFAULTS.auditQueue.records;
    this.#maxQueuedBytes = options.maxQueuedBytes ?? DEFAULTS.auditQueue.bytes;
    this.#retryMs = options.retryMs ?? LIMITS.pace.auditRetry;
    this.#gatherMs = options.gatherMs ?? LIMITS.pace.gatheredRecords;
    this.#foldMs = options.foldMs ?? LIMITS.pace.refusals;
    this.#folds = new RefusalFolds(this.#foldMs);
    this.#now = options.now ?? wallNow;
  }

  /** Records one call. Returns at once and never throws. */
  record(entry: AuditEntry): void {
    this.#recorded += 1;
    if (neverSent(entry) && this.#closed === undefined && this.#fold(entry)) return;
    this.#queue(entry);
  }

  /** Records that a call is about to be sent. Resolves with whether that is written. */
  announce(intent: AuditIntent): Promise<boolean> {
    return new Promise((resolve) => {
      this.#recorded += 1;
      this.#intents.set(intent, resolve);
      this.#queue(intent);
    });
  }

  /** Counts a repeated refusal. */
  #fold(entry: AuditEntry): boolean {
    if (this.#foldMs === 0) return false;
    if (this.#folds.isDue) this.#unfold();
    if (!this.#folds.counts(entry)) return false;
    this.#folded += 1;
    this.#folding ??= setTimeout(() => this.#unfold(), this.#foldMs).unref();
    return true;
  }

  /** Queues one entry for each counted refusal. */
  #unfold(): void {
    clearTimeout(this.#folding);
    this.#folding = undefined;
    for (const entry of this.#folds.take()) this.#queue(entry);
  }

  #queue(entry: AuditEntry | AuditIntent): void {
    // Refusals may fill only half of the queue.
    const most = neverSent(entry) ? this.#maxQueued / 2 : this.#maxQueued;
    if (this.#closed !== undefined || this.#queued() >= most) {
      this.#drop(entry.count ?? 1);
      this.#intents.get(entry)?.(false);
      return;
    }
    this.#entries.push(entry);
    if (this.#gatherMs === 0 || this.#intents.has(entry)) void this.#render();
    // Calls come in bursts: a separate write for each would cost a tenth of the fastest calls' time.
    else this.#gathering ??= setTimeout(() => void this.#render(), this.#gatherMs).unref();
  }

  /** Resolves when all earlier records are written, or the sink has failed again. Never rejects. */
  async flush(): Promise<void> {
    this.#unfold();
    do {
      await this.#render();
      await this.#write();
    } while (this.#entries.length + this.#lines.length > 0 && !this.#failing);
  }

  /** Flushes, counts what could not be written, and closes the sink. Later records are dropped. */
  close(): Promise<void> {
    if (this.#closed === undefined) this.#unfold();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Returns the counters. */
  stats(): AuditStats {
    return {
      recorded: this.#recorded,
      written: this.#written,
      folded: this.#folded,
      dropped: this.#dropped,
      queued: this.#queued(),
      failing: this.#failing,
    };
  }

  async #close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#retry);
    const left = this.#queued();
    if (left > 0) {
      for (const entry of this.#entries) this.#intents.get(entry)?.(false);
      for (const { tell } of this.#lines) tell?.(false);
      this.#entries = [];
      this.#lines = [];
      this.#chunk = undefined;
      this.#drop(left);
      this.#logger?.warn(
        { event: 'audit_dropped', count: left },
        `${left} audit records could not be written and are lost.`,
      );
    }
    await this.#sink.close();
    if (this.#refusals !== this.#sink) await this.#refusals.close();
  }

  #queued(): number {
    return this.#entries.length + this.#lines.length + (this.#chunk?.count ?? 0);
  }

  #drop(count: number): void {
    this.#dropped += count;
    this.#unreportedDrops += count;
  }

  /** Formats entries as lines, a few milliseconds at a time; one run at once. */
  #render(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#rendering ??= this.#renderAll().finally(() => {
      this.#rendering = undefined;
      // Entries that arrived while the last slice was ending.
      if (this.#entries.length > 0) void this.#render();
    });
    return this.#rendering;
  }

  async #renderAll(): Promise<void> {
    await nextTick();
    const format = { ...this.#format, salt: await this.#saltOrRandom() };
    while (this.#entries.length > 0) {
      const batch = this.#entries;
      this.#entries = [];
      let done = 0;
      const until = performance.now() + LIMITS.slice.stretch;
      while (done < batch.length && performance.now() < until)
        this.#enqueue(batch[done++] as AuditEntry | AuditIntent, format);
      if (done < batch.length) this.#entries = [...batch.slice(done), ...this.#entries];
      if (this.#retry === undefined) void this.#write();
      if (this.#entries.length > 0) await nextTick();
    }
  }

  #enqueue(entry: AuditEntry | AuditIntent, format: FormatOptions): void {
    const tell = this.#intents.get(entry);
    try {
      this.#addLine({ text: formatEntry(entry, format), sink: neverSent(entry) ? this.#refusals : this.#sink, tell });
    } catch (error) {
      this.#drop(1);
      tell?.(false);
      this.#warn('audit_format_failed', 'An audit record could not be rendered', error);
    }
  }

  #addLine(line: Line): void {
    const bytes = Buffer.byteLength(line.text);
    if (this.#lineBytes + bytes > this.#maxQueuedBytes) {
      this.#drop(1);
      line.tell?.(false);
      return;
    }
    this.#lineBytes += bytes;
    this.#lines.push(line);
    if (this.#failing) line.tell?.(false);
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#lines.length > 0 && this.#retry === undefined) void this.#write();
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    for (;;) {
      this.#chunk ??= this.#nextChunk();
      if (this.#chunk === undefined) return;
      const { text, sink, count, bytes, tell } = this.#chunk;
      try {
        await sink.write(text);
      } catch (error) {
        // The text is written later. The waiting calls are refused now.
        for (const one of tell) one(false);
        for (const line of this.#lines) line.tell?.(false);
        this.#failed(error);
        return;
      }
      this.#chunk = undefined;
      this.#lineBytes -= bytes;
      this.#written += count;
      this.#failing = false;
      for (const one of tell) one(true);
      if (this.#unreportedDrops > 0) this.#noteDrops();
    }
  }

  #nextChunk(): Chunk | undefined {
    const sink = this.#lines[0]?.sink;
    if (sink === undefined) return undefined;
    let count = 0;
    let bytes = 0;
    let text = '';
    const tell: Tell[] = [];
    for (; this.#lines[count]?.sink === sink && bytes < CHUNK_BYTES; count++) {
      const line = this.#lines[count];
      bytes += Buffer.byteLength(line?.text ?? '');
      text += line?.text ?? '';
      if (line?.tell) tell.push(line.tell);
    }
    this.#lines = this.#lines.slice(count);
    return { text, sink, count, bytes, tell };
  }

  /** A gap must be visible in the log itself. */
  #noteDrops(): void {
    const count = this.#unreportedDrops;
    this.#unreportedDrops = 0;
    const line = { time: new Date(this.#now()).toISOString(), event: 'dropped', count };
    this.#recorded += 1;
    this.#addLine({ text: `${JSON.stringify(line)}\n`, sink: this.#sink });
  }

  #failed(error: unknown): void {
    this.#failing = true;
    this.#warn(
      'audit_write_failed',
      'The audit log cannot be written; calls continue, records are queued or dropped',
      error,
    );
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.#write();
    }, this.#retryMs);
    this.#retry.unref();
  }

  #saltOrRandom(): Promise<Uint8Array> {
    this.#salt ??= this.#loadSalt().catch((error: unknown) => {
      this.#warn(
        'audit_salt_failed',
        'The audit salt cannot be read; hashes of this run cannot be compared with those of other runs',
        error,
      );
      return crypto.getRandomValues(new Uint8Array(32));
    });
    return this.#salt;
  }

  #warn(event: string, what: string, error: unknown): void {
    if (ageSince(this.#lastWarning, this.#now()) < LIMITS.pace.warning) return;
    this.#lastWarning = this.#now();
    const reason = error instanceof Error ? error.message : String(error);
    this.#logger?.warn({ event, code: 'STORAGE_ERROR', dropped: this.#dropped }, `${what}: ${reason}.`);
  }
}

/** Tells whether a call was never sent. Such calls cost the caller nothing, so they may be numerous. */
const neverSent = (entry: AuditEntry | AuditIntent): boolean =>
  ('outcome' in entry && entry.outcome === 'refused') || entry.sent === false;

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
