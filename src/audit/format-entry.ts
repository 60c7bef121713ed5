/**
 * Formats an audit record as one line of JSON, at most 8 KiB. Arguments appear as names and keyed hashes: equal values
 * have equal hashes, and without the salt the values cannot be guessed.
 * @module
 */
import { createHmac } from 'node:crypto';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { redactObject } from '../secrets/redact-object.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import type { AuditEntry, AuditIntent } from './audit-entry.ts';
import { toCanonicalText } from './canonical-text.ts';

// What is dropped first when a line is too long.
const EXPENDABLE = ['arguments', 'message', 'argumentHashes', 'argumentNames', 'flags'] as const;

/** Ids of traces and sessions, which nothing would be removed from. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface FormatOptions {
  /** The key of the hashes, so that values cannot be found by trial. */
  readonly salt: Uint8Array;
  /** Also writes redacted argument values and error messages. */
  readonly values: boolean;
  /** The longest line in bytes, including the newline. */
  readonly maxLineBytes?: number | undefined;
  /** Redacts known secrets in a text. */
  readonly redact: Redact;
}

/** Formats one record; the line ends with a newline. The line of an intent says `"event":"sending"`. */
export function formatEntry(entry: AuditEntry | AuditIntent, options: FormatOptions): string {
  const { redact, values } = options;
  const { outcome, durationMs } = entry as Partial<AuditEntry>;
  const short = (text: string | undefined, max = LIMITS.names.tool, by = redact): string | undefined => {
    if (text === undefined) return undefined;
    const clean = by.cut(text, max);
    return text.length > max ? `${clean}…` : clean;
  };
  // Names are not compared with known secrets: otherwise a server's configuration could hide names from the log.
  const name = (text: string | undefined, max = LIMITS.names.tool) =>
    text !== undefined && UUID.test(text) ? text : short(text, max, redactUnknown);
  const given = entry.arguments ?? {};
  const names = Object.keys(given);
  const shown = names.slice(0, LIMITS.audit.arguments);
  const truncated = names.length > shown.length ? [`${names.length - shown.length} arguments`] : [];
  const hashes: Record<string, string> = Object.create(null);
  for (const argument of shown) hashes[short(argument, 128) as string] = hashArgument(given, argument, options.salt);
  const line: Record<string, unknown> = {
    time: entry.time.toISOString(),
    event: outcome === undefined ? 'sending' : undefined,
    traceId: name(entry.traceId),
    principal: short(entry.principal),
    profile: name(entry.profile),
    session: name(entry.session),
    server: name(entry.server),
    tool: name(entry.tool),
    argumentNames: shown.length > 0 ? Object.keys(hashes) : undefined,
    argumentHashes: shown.length > 0 ? hashes : undefined,
    arguments: values && shown.length > 0 ? redactObject(given, redact) : undefined,
    outcome: name(outcome),
    // For a refusal this is obvious.
    sent: entry.sent === false && outcome !== 'refused' ? false : undefined,
    code: name(entry.code),
    message: values ? short(entry.message, 1_024) : undefined,
    count: entry.count,
    since: entry.since?.toISOString(),
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs * 1_000) / 1_000,
    connectMs: entry.connectMs === undefined ? undefined : Math.round(entry.connectMs * 1_000) / 1_000,
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
    // A getter or toJSON of a caller in the same process threw: record the call anyway.
    return 'unreadable';
  }
}
