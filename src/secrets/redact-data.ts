/**
 * Takes secrets out of structured data: tool definitions, results that report an error, data of errors and notifications.
 * Names are never masked: keys, tool and parameter names, enums and whatever else a caller has to repeat stay as they are.
 * @module
 */
import type { CallToolResult, ContentBlock, ToolDefinition } from '../types.ts';
import type { Redact } from './redactor.ts';

const STEP = 20;
/** What is nested deeper was refused when it was read. */
const MAX_DEPTH = 200;

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
    const text = JSON.stringify(tool);
    clean.push(redact(text) === text ? tool : (redactValue(tool, redact, NAMED, 0) as ToolDefinition));
    if (clean.length % STEP === 0) yield;
  }
  return clean;
}

/** Takes secrets out of every text of plain data; keys stay. What holds none stays the same object. */
export const redactData = <T>(value: T, redact: Redact): T => redactValue(value, redact, NOTHING, 0) as T;

/** A result that reports an error, without the credentials a server quotes in it. Other results are the caller's own. */
export function redactFailure(result: CallToolResult, redact: Redact): CallToolResult {
  if (result.isError !== true) return result;
  const { content, structuredContent } = result;
  const blocks = Array.isArray(content) ? redactBlocks(content, redact) : content;
  const data = redactData(structuredContent, redact);
  // Unchanged ones stay what they are: the digits of large numbers belong to the object.
  return blocks === content && data === structuredContent
    ? result
    : { ...result, content: blocks, structuredContent: data };
}

function redactBlocks(blocks: readonly ContentBlock[], redact: Redact): readonly ContentBlock[] {
  let changed = false;
  const clean = blocks.map((block) => {
    if (typeof block?.text !== 'string') return block;
    const text = redact(block.text);
    if (text === block.text) return block;
    changed = true;
    return { ...block, text };
  });
  return changed ? clean : blocks;
}

const NOTHING: ReadonlySet<string> = new Set();

function redactValue(value: unknown, redact: Redact, kept: ReadonlySet<string>, depth: number): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
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
function redactMembers(value: unknown, redact: Redact, kept: ReadonlySet<string>, depth: number): unknown {
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
