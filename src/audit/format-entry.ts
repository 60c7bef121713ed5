/**
 * An audit entry in, one line of JSON out, at most 8 KiB. Arguments show as names and keyed hashes: equal values can be
 * told apart from different ones, and nobody without the salt can guess what they were.
 * @module
 */
import { createHmac } from 'node:crypto';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { redactObject } from '../secrets/redact-object.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import type { AuditEntry } from './audit-entry.ts';
import { toCanonicalText } from './canonical-text.ts';

// What is dropped first when a line is too long.
const EXPENDABLE = ['arguments', 'message', 'argumentHashes', 'argumentNames', 'flags'] as const;

/** How entries are written. */
export interface FormatOptions {
  /** Keys the hashes, so that a small set of possible values cannot be tried out. */
  readonly salt: Uint8Array;
  /** Write redacted argument values and error messages too. */
  readonly values: boolean;
  /** The longest line in bytes, newline included. */
  readonly maxLineBytes?: number | undefined;
  /** Takes known secrets out of a text. */
  readonly redact: Redact;
}

/** Renders one entry; the line ends with a newline. */
export function formatEntry(entry: AuditEntry, options: FormatOptions): string {
  const { redact, values } = options;
  const short = (text: string | undefined, max = LIMITS.names.tool, by = redact): string | undefined => {
    if (text === undefined) return undefined;
    const clean = by.cut(text, max);
    return text.length > max ? `${clean}…` : clean;
  };
  // A name is never taken for a secret because some value is the same: who configures a server could blind the log.
  const name = (text: string | undefined, max = LIMITS.names.tool) => short(text, max, redactUnknown);
  const given = entry.arguments ?? {};
  const names = Object.keys(given);
  const shown = names.slice(0, LIMITS.audit.arguments);
  const truncated = names.length > shown.length ? [`${names.length - shown.length} arguments`] : [];
  const hashes: Record<string, string> = Object.create(null);
  for (const argument of shown) hashes[short(argument, 128) as string] = hashArgument(given, argument, options.salt);
  const line: Record<string, unknown> = {
    time: entry.time.toISOString(),
    traceId: name(entry.traceId),
    principal: short(entry.principal),
    session: name(entry.session),
    server: name(entry.server),
    tool: name(entry.tool),
    argumentNames: shown.length > 0 ? Object.keys(hashes) : undefined,
    argumentHashes: shown.length > 0 ? hashes : undefined,
    arguments: values && shown.length > 0 ? redactObject(given, redact) : undefined,
    outcome: name(entry.outcome),
    // Of a refusal that is plain.
    sent: entry.sent === false && entry.outcome !== 'refused' ? false : undefined,
    code: name(entry.code),
    message: values ? short(entry.message, 1_024) : undefined,
    count: entry.count,
    since: entry.since?.toISOString(),
    durationMs: Math.round(entry.durationMs * 1_000) / 1_000,
    bytesIn: entry.bytesIn,
    bytesOut: entry.bytesOut,
    flags: entry.flags?.length ? entry.flags.slice(0, 16).map((flag) => name(flag, 64)) : undefined,
    truncated: truncated.length > 0 ? truncated : undefined,
  };
  let text = `${JSON.stringify(line)}\n`;
  for (const field of EXPENDABLE) {
    if (Buffer.byteLength(text) <= (options.maxLineBytes ?? DEFAULTS.limits.auditLine)) break;
    if (line[field] === undefined) continue;
    line[field] = undefined;
    truncated.push(field);
    line.truncated = truncated;
    text = `${JSON.stringify(line)}\n`;
  }
  return text;
}

function hashArgument(given: Readonly<Record<string, unknown>>, name: string, salt: Uint8Array): string {
  try {
    const { text, size } = toCanonicalText(given[name]);
    return createHmac('sha256', salt).update(`${size}:${text}`).digest('hex').slice(0, 16);
  } catch {
    // A getter or toJSON of a caller in the same process threw: the call is recorded all the same.
    return 'unreadable';
  }
}
