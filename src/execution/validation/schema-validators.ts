/**
 * Checks values against the schemas of tools; each schema is parsed once. A schema proven harmless is checked in line,
 * any other on a worker thread. An unusable schema disables its own checks and reports why.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { checkValue } from './check-value.ts';
import { OffThreadChecker, type OffThreadOptions } from './off-thread-checker.ts';
import { describeViolations, type Problem } from './problem.ts';
import { type CheckedSchema, checkSchema } from './schema-check.ts';
import type { SchemaLimits } from './schema-reader.ts';

/** The result of a check. `unchecked` lets the value pass; `reason` is set when the schema is to blame. */
export type Verdict =
  | { readonly status: 'fits' }
  | { readonly status: 'broken'; readonly problems: readonly Problem[] }
  | { readonly status: 'unchecked'; readonly reason: string | undefined };

interface Entry {
  readonly checked: CheckedSchema;
  /** Checks in a row that took too long. */
  overruns: number;
  /** When checking resumes after too many of them, on a monotonic clock. */
  pausedUntil: number;
}

const FITS: Verdict = { status: 'fits' };
const SKIPPED: Verdict = { status: 'unchecked', reason: undefined };

const TOO_LONG = { status: 'unchecked', reason: 'checking against it took too long' } as const;

/** All schemas in use, cached as long as their definitions exist. */
export class SchemaValidators {
  readonly #entries = new WeakMap<object, Entry>();
  readonly #offThread: OffThreadChecker;
  readonly #limits: SchemaLimits | undefined;
  readonly #now: () => number;

  constructor(options: OffThreadOptions & { readonly now?: (() => number) | undefined } = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#offThread = new OffThreadChecker(options);
    this.#limits = options.schema;
  }

  /** Checks a value, synchronously if that is safe. Never throws, never rejects. */
  check(schema: object, value: unknown): Verdict | Promise<Verdict> {
    const entry = this.#entry(schema);
    const { checked } = entry;
    if (checked.verdict === 'unusable') return { status: 'unchecked', reason: checked.reason };
    if (this.#isPaused(entry)) return TOO_LONG;
    if (checked.verdict === 'harmless') {
      const violations = checkValue(checked.root, value);
      if (violations !== 'exhausted') {
        return violations.length === 0 ? FITS : { status: 'broken', problems: describeViolations(violations) };
      }
    }
    return isLarge(value) ? SKIPPED : this.#elsewhere(schema, entry, value);
  }

  /** Ends the worker thread, if it was started. */
  close(): Promise<void> {
    return this.#offThread.close();
  }

  async #elsewhere(schema: object, entry: Entry, value: unknown): Promise<Verdict> {
    const answer = await this.#offThread.check(schema, value);
    if (answer === 'unavailable') return SKIPPED;
    if (answer === 'overrun') {
      entry.overruns++;
      if (entry.overruns >= LIMITS.validation.overruns) entry.pausedUntil = this.#now() + LIMITS.pace.schema;
      return TOO_LONG;
    }
    entry.overruns = 0;
    return answer.length === 0 ? FITS : { status: 'broken', problems: answer };
  }

  #isPaused({ pausedUntil }: Entry): boolean {
    return pausedUntil > 0 && this.#now() < pausedUntil;
  }

  #entry(schema: object): Entry {
    let entry = this.#entries.get(schema);
    if (entry === undefined) {
      entry = { checked: checkSchema(schema, this.#limits), overruns: 0, pausedUntil: 0 };
      this.#entries.set(schema, entry);
    }
    return entry;
  }
}

/** Tells whether a value has too many parts to copy. */
function isLarge(value: unknown): boolean {
  let left = LIMITS.validation.copied;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const parts: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    left -= parts.length + 1;
    if (left < 0) return true;
    for (const part of parts) open.push(part);
  }
  return false;
}
