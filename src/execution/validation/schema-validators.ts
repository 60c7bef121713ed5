/**
 * Checks values against the schemas of tools, each schema read once. In line where the schema is proven harmless, on
 * another thread otherwise; a schema that cannot be used switches its own checks off and says so.
 * @module
 */
import { checkValue } from './check-value.ts';
import { OffThreadChecker, type OffThreadOptions } from './off-thread-checker.ts';
import { describeViolations, type Problem } from './problem.ts';
import { type CheckedSchema, checkSchema } from './schema-check.ts';
import type { SchemaLimits } from './schema-reader.ts';

/** What a check found. `unchecked` lets the value pass; `reason` is set when the schema is to blame. */
export type Verdict =
  | { readonly status: 'fits' }
  | { readonly status: 'broken'; readonly problems: readonly Problem[] }
  | { readonly status: 'unchecked'; readonly reason: string | undefined };

interface Entry {
  readonly checked: CheckedSchema;
  /** Why checks against this schema are off. */
  off: string | undefined;
}

const FITS: Verdict = { status: 'fits' };
const SKIPPED: Verdict = { status: 'unchecked', reason: undefined };
/** A value with more parts than this is not copied to another thread: the copying itself would take too long. */
const MAX_COPIED = 50_000;

/** All schemas in use, remembered for as long as their definitions live. */
export class SchemaValidators {
  readonly #entries = new WeakMap<object, Entry>();
  readonly #offThread: OffThreadChecker;
  readonly #limits: SchemaLimits | undefined;

  constructor(options: OffThreadOptions = {}) {
    this.#offThread = new OffThreadChecker(options);
    this.#limits = options.schema;
  }

  /** Checks a value; at once where that is safe. Never throws, never rejects. */
  check(schema: object, value: unknown): Verdict | Promise<Verdict> {
    const entry = this.#entry(schema);
    const { checked } = entry;
    if (entry.off !== undefined || checked.verdict === 'unusable') return { status: 'unchecked', reason: entry.off };
    if (checked.verdict === 'harmless') {
      const violations = checkValue(checked.root, value);
      if (violations !== 'exhausted') {
        return violations.length === 0 ? FITS : { status: 'broken', problems: describeViolations(violations) };
      }
    }
    return isLarge(value) ? SKIPPED : this.#elsewhere(schema, entry, value);
  }

  /** Why checks against a schema are off, or undefined: what a status page shows as `invalid_schema`. */
  reasonOff(schema: object): string | undefined {
    return this.#entry(schema).off;
  }

  /** Ends the other thread, if it was ever needed. */
  close(): Promise<void> {
    return this.#offThread.close();
  }

  async #elsewhere(schema: object, entry: Entry, value: unknown): Promise<Verdict> {
    const answer = await this.#offThread.check(schema, value);
    if (answer === 'unavailable') return SKIPPED;
    if (answer === 'overrun') {
      entry.off = 'checking against it took too long';
      return { status: 'unchecked', reason: entry.off };
    }
    return answer.length === 0 ? FITS : { status: 'broken', problems: answer };
  }

  #entry(schema: object): Entry {
    let entry = this.#entries.get(schema);
    if (entry === undefined) {
      const checked = checkSchema(schema, this.#limits);
      entry = { checked, off: checked.verdict === 'unusable' ? checked.reason : undefined };
      this.#entries.set(schema, entry);
    }
    return entry;
  }
}

/** Whether a value has too many parts to copy. */
function isLarge(value: unknown): boolean {
  let left = MAX_COPIED;
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
