/**
 * Combines repeated refusals: of the same caller, server, tool and code, only the first few of a time window get their
 * own lines, and one more line counts the rest. Once there are many different names, these are counted too.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { AuditEntry } from './audit-entry.ts';

interface Fold {
  readonly entry: AuditEntry;
  /** The first and the last counted refusal. */
  since: Date | undefined;
  last: AuditEntry | undefined;
  count: number;
  /** How many more get their own lines. */
  own: number;
}

/** Repeats that still get their own lines in one window: an agent that retries is not a flood. */
const OWN_LINES = 10;

/** Stands for many names in a line that counts them. */
const VARIOUS = '(various)';

export class RefusalFolds {
  readonly #windowMs: number;
  readonly #now: () => number;
  #folds = new Map<string, Fold>();
  #until = Number.NEGATIVE_INFINITY;

  constructor(windowMs: number, now: () => number = () => performance.now()) {
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** Whether the window that is open has ended. */
  get isDue(): boolean {
    return this.#now() >= this.#until;
  }

  /** Counts a repeated refusal and returns true; false for one that needs its own line. */
  counts(entry: AuditEntry): boolean {
    if (this.#folds.size === 0) this.#until = this.#now() + this.#windowMs;
    const key = [entry.principal, entry.session, entry.server, entry.tool, entry.outcome, entry.code]
      .map((part) => (part ?? '').slice(0, LIMITS.names.tool))
      .join('\0');
    const known = this.#folds.get(key);
    if (known) {
      known.own -= 1;
      return known.own >= 0 ? false : this.#count(known, entry);
    }
    if (this.#folds.size < LIMITS.audit.distinct) {
      this.#folds.set(key, { entry, since: undefined, last: undefined, count: 0, own: OWN_LINES - 1 });
      return false;
    }
    const { code, outcome, sent } = entry;
    const rest = `${VARIOUS}\0${outcome}\0${code}`;
    let fold = this.#folds.get(rest);
    if (!fold) {
      const various: AuditEntry = {
        time: entry.time,
        traceId: entry.traceId,
        server: VARIOUS,
        tool: VARIOUS,
        outcome,
        sent,
        code,
        durationMs: 0,
      };
      fold = { entry: various, since: undefined, last: undefined, count: 0, own: 0 };
      this.#folds.set(rest, fold);
    }
    return this.#count(fold, entry);
  }

  /** Returns one entry for each counted refusal. The next refusal starts a new window. */
  take(): AuditEntry[] {
    const folds = [...this.#folds.values()].filter(({ count }) => count > 0);
    this.#folds = new Map();
    return folds.map(({ entry, since, last = entry, count }) => ({
      ...entry,
      time: last.time,
      traceId: last.traceId,
      // The counted refusals may differ in these; the first line has those of the first.
      arguments: undefined,
      bytesIn: undefined,
      message: undefined,
      count,
      since,
    }));
  }

  #count(fold: Fold, entry: AuditEntry): true {
    fold.since ??= entry.time;
    fold.last = entry;
    fold.count += 1;
    return true;
  }
}
