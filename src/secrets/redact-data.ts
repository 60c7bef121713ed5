/**
 * Redacts structured data: tool definitions, error results, and the data of errors and notifications. Names are never
 * masked: keys, tool and parameter names, enums, and anything else a caller must repeat.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { CallToolResult } from '../core/types.ts';
import { REDACTED, type Redact } from './redactor.ts';
import { isCredentialOf } from './secret-values.ts';
import { startBefore, withoutHidden } from './seen-spans.ts';

const STEP = 20;
/** Characters processed in one step: about 10 ms at worst. */
const PIECE = 32_768;
const MIN_HELD = 1_024;

/** Keywords whose values a caller repeats or a validator reads; everything below them stays. */
const NAMED: ReadonlySet<string> = new Set([
  'name',
  'enum',
  'const',
  'required',
  'dependentRequired',
  'type',
  'format',
  'pattern',
  'contentEncoding',
  'contentMediaType',
  '$ref',
  '$dynamicRef',
  '$id',
  'id',
  '$schema',
  '$anchor',
  '$dynamicAnchor',
  'x-mcp-header',
]);
/** Keywords whose members are named by the author: a parameter named `enum` is not a keyword. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

const NOTHING: ReadonlySet<string> = new Set();

/** Redacts every definition of a list, in steps. Those without secrets stay the same objects. */
export function* redactDefinitions<T extends object>(
  definitions: readonly T[],
  redact: Redact,
): Generator<void, readonly T[]> {
  const clean: T[] = [];
  for (const definition of definitions) {
    clean.push(redactValue(definition, redact, NAMED, 0) as T);
    if (clean.length % STEP === 0) yield;
  }
  return clean;
}

/**
 * Redacts every text of plain data; keys stay. Data without secrets stays the same object. Text beyond the limit
 * becomes `…`, because processing it would block other work.
 */
export function redactData<T>(value: T, redact: Redact): T {
  let left = LIMITS.text.raw;
  const within = (text: string): string => {
    if (left <= 0 && text !== '') return '…';
    const clean = text.length > left ? `${redact.cut(text, left)}…` : redact(text);
    left -= text.length;
    return clean;
  };
  return redactValue(value, within, NOTHING, 0) as T;
}

/** Members of content blocks that are no text: a kind, and encoded bytes. */
const NO_TEXT: ReadonlySet<string> = new Set(['type', 'data', 'blob']);

/** Redacts an error result, in steps. Other results belong to the caller and pass unchanged. */
export function* redactFailure(result: CallToolResult, redact: Redact): Generator<void, CallToolResult> {
  if (result.isError !== true) return result;
  let clean = result;
  for (const [key, value] of Object.entries(result)) {
    const after = yield* redactInSteps(value, redact, key === 'content' ? NO_TEXT : NOTHING, 0);
    if (after !== value) clean = { ...clean, [key]: after };
  }
  return clean;
}

/**
 * Redacts every text of any value, except strings under the keys in `kept`; `named` is the key above it. Unchanged objects are kept, because exact
 * digits of large numbers are attached to them.
 */
function* redactInSteps(
  value: unknown,
  redact: Redact,
  kept: ReadonlySet<string>,
  depth: number,
  named = '',
): Generator<void, unknown> {
  if (typeof value === 'string') return isCredentialOf(named, value) ? REDACTED : yield* redactLong(value, redact);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= LIMITS.json.depth) return '…';
  const entries: [string, unknown][] = [];
  let changed = false;
  for (const [key, item] of Object.entries(value)) {
    const isKept = typeof item === 'string' && kept.has(key);
    const name = Array.isArray(value) ? named : key;
    const after = isKept ? item : yield* redactInSteps(item, redact, kept, depth + 1, name);
    changed ||= after !== item;
    entries.push([key, after]);
    if (entries.length % STEP === 0) yield;
  }
  if (!changed) return value;
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** Redacts a text of any length, piece by piece. */
function* redactLong(text: string, redact: Redact): Generator<void, string> {
  if (text.length <= PIECE) return redact(text);
  let out = '';
  let held = '';
  for (let from = 0; from < text.length; from += PIECE) {
    held += text.slice(from, from + PIECE);
    // Mostly hidden characters: drop them, because they only cost time.
    if (held.length > LIMITS.secrets.held) held = withoutHidden(held);
    const { clean, rest } = redact.split(held, startBefore(held, Math.max(redact.reach, MIN_HELD)));
    out += clean;
    held = rest;
    yield;
  }
  return out + redact(held);
}

function redactValue(
  value: unknown,
  redact: (text: string) => string,
  kept: ReadonlySet<string>,
  depth: number,
  named = '',
): unknown {
  if (typeof value === 'string') return isCredentialOf(named, value) ? REDACTED : redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= LIMITS.json.depth) return '…';
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redact, kept, depth + 1, named));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  return redactEntries(value, (key, item) => {
    if (kept.has(key)) return item;
    // `dependencies` may list names instead of schemas.
    if (kept !== NOTHING && MAPS.has(key)) return redactMembers(item, redact, kept, depth + 1);
    // In a definition a key names a parameter, not what stands under it.
    return redactValue(item, redact, kept, depth + 1, kept === NOTHING ? key : '');
  });
}

/** Redacts the members of a map whose keys are the author's names, not keywords. */
function redactMembers(
  value: unknown,
  redact: (text: string) => string,
  kept: ReadonlySet<string>,
  depth: number,
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return redactEntries(value, (_, item) => (Array.isArray(item) ? item : redactValue(item, redact, kept, depth + 1)));
}

/** Returns a copy with changed values, or the same object if nothing changed. */
function redactEntries(value: object, clean: (key: string, item: unknown) => unknown): object {
  let changed = false;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    const after = clean(key, item);
    changed ||= after !== item;
    return [key, after];
  });
  return changed ? Object.fromEntries(entries) : value;
}
