/**
 * Takes secrets out of structured data: tool definitions, results that report an error, data of errors and notifications.
 * Names are never masked: keys, tool and parameter names, enums and whatever else a caller has to repeat stay as they are.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { CallToolResult, ContentBlock, ToolDefinition } from '../core/types.ts';
import type { Redact } from './redactor.ts';
import { startBefore, withoutHidden } from './seen-spans.ts';

const STEP = 20;
/** Characters that are looked through in one go: about 10 ms at worst. */
const PIECE = 32_768;
const MIN_HELD = 1_024;

/** Keywords of a definition whose values a caller repeats or a validator reads; everything below them stays. */
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
/** Keywords whose members are named by the author: a parameter called `enum` is none. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Takes secrets out of what every tool says of itself, in steps. Tools that hold none stay the same objects. */
export function* redactTools(
  tools: readonly ToolDefinition[],
  redact: Redact,
): Generator<void, readonly ToolDefinition[]> {
  const clean: ToolDefinition[] = [];
  for (const tool of tools) {
    clean.push(redactValue(tool, redact, NAMED, 0) as ToolDefinition);
    if (clean.length % STEP === 0) yield;
  }
  return clean;
}

/**
 * Takes secrets out of every text of plain data; keys stay. What holds none stays the same object. Of data with more text
 * than an error needs, the rest becomes `…`: looking through it would hold everybody else up.
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

/**
 * A result that reports an error, without the credentials a server quotes in it, in steps. Other results are the caller's
 * own.
 */
export function* redactFailure(result: CallToolResult, redact: Redact): Generator<void, CallToolResult> {
  if (result.isError !== true) return result;
  const { content, structuredContent } = result;
  const blocks = Array.isArray(content) ? yield* redactBlocks(content, redact) : content;
  const data = redactData(structuredContent, redact);
  // Unchanged ones stay what they are: the digits of large numbers belong to the object.
  return blocks === content && data === structuredContent
    ? result
    : { ...result, content: blocks, structuredContent: data };
}

function* redactBlocks(blocks: readonly ContentBlock[], redact: Redact): Generator<void, readonly ContentBlock[]> {
  let changed = false;
  const clean: ContentBlock[] = [];
  for (const block of blocks) {
    const text = typeof block?.text === 'string' ? yield* redactLong(block.text, redact) : undefined;
    const same = text === undefined || text === block.text;
    clean.push(same ? block : { ...block, text });
    changed ||= !same;
    if (clean.length % STEP === 0) yield;
  }
  return changed ? clean : blocks;
}

/** Any text, piece by piece. */
function* redactLong(text: string, redact: Redact): Generator<void, string> {
  if (text.length <= PIECE) return redact(text);
  let out = '';
  let held = '';
  for (let from = 0; from < text.length; from += PIECE) {
    held += text.slice(from, from + PIECE);
    // Hardly anything in it is seen: the rest of it only delays everybody.
    if (held.length > LIMITS.secrets.held) held = withoutHidden(held);
    const { clean, rest } = redact.split(held, startBefore(held, Math.max(redact.reach, MIN_HELD)));
    out += clean;
    held = rest;
    yield;
  }
  return out + redact(held);
}

const NOTHING: ReadonlySet<string> = new Set();

function redactValue(
  value: unknown,
  redact: (text: string) => string,
  kept: ReadonlySet<string>,
  depth: number,
): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= LIMITS.json.depth) return '…';
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redact, kept, depth + 1));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  return redactEntries(value, (key, item) => {
    if (kept.has(key)) return item;
    // `dependencies` may list names instead of schemas.
    if (kept !== NOTHING && MAPS.has(key)) return redactMembers(item, redact, kept, depth + 1);
    return redactValue(item, redact, kept, depth + 1);
  });
}

/** The same for what an author's own names lead to: none of those is a keyword. */
function redactMembers(
  value: unknown,
  redact: (text: string) => string,
  kept: ReadonlySet<string>,
  depth: number,
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return redactEntries(value, (_, item) => (Array.isArray(item) ? item : redactValue(item, redact, kept, depth + 1)));
}

/** A copy with changed values, or the same object where nothing changes. */
function redactEntries(value: object, clean: (key: string, item: unknown) => unknown): object {
  let changed = false;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    const after = clean(key, item);
    changed ||= after !== item;
    return [key, after];
  });
  return changed ? Object.fromEntries(entries) : value;
}
