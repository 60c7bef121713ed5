/**
 * Reads the whole tool list of a server, page by page, and checks each tool separately, so that a bad entry costs only
 * itself.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { META_TOOL_NAMES } from '../core/own-server.ts';
import type { ToolDefinition } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { completeInput, inputFault, withoutIllTyped } from '../schema/tool-fields.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import { isPlain, oneLine, plainName } from '../text/plain-text.ts';
import { headerFault } from './param-headers.ts';

export interface ToolListLimits {
  readonly pages: number;
  readonly tools: number;
  readonly definitionBytes: number;
  readonly descriptionChars: number;
}

export interface SkippedTool {
  readonly name: string;
  readonly reason: string;
}

export interface ToolList {
  readonly tools: readonly ToolDefinition[];
  readonly skipped: readonly SkippedTool[];
  /** Why the list is incomplete, if it is. */
  readonly incomplete: string | undefined;
  /** Whether a limit of ours is the reason. Other incomplete lists must not replace a complete one. */
  readonly isCut?: boolean | undefined;
}

/** Entries that are checked in one go, so that a huge page does not hold everybody else up. */
const SLICE = 200;

/** Reads pages until the server has no more, a cursor repeats, or a limit is reached. */
export async function readToolList(
  page: (cursor: string | undefined) => Promise<Readonly<Record<string, unknown>>>,
  limits: ToolListLimits,
  redact: Redact = redactUnknown,
): Promise<ToolList> {
  const tools = new Map<string, ToolDefinition>();
  const skipped: SkippedTool[] = [];
  const skip = (name: unknown, reason: string) => {
    const shown = typeof name === 'string' ? oneLine(redact.cut(name, 400), 80) : '';
    if (skipped.length < LIMITS.wire.skipped) skipped.push({ name: shown, reason });
  };
  const maxBytes = LIMITS.wire.listDefinitions * limits.definitionBytes;
  let bytes = 0;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const result = await page(cursor);
    if (!Array.isArray(result.tools)) return done('the server sent no list');
    for (const [index, entry] of result.tools.entries()) {
      if (index % SLICE === SLICE - 1) await breath();
      const checked = checkTool(entry, limits, redact);
      if ('reason' in checked) skip(checked.name, checked.reason);
      else if (tools.has(checked.tool.name)) skip(checked.tool.name, 'a tool of this name was listed before');
      else if (tools.size >= limits.tools) return done(`more than ${limits.tools} tools`, true);
      else {
        bytes += checked.bytes;
        if (bytes > maxBytes) return done(`more than ${maxBytes} bytes of definitions`, true);
        tools.set(checked.tool.name, checked.tool);
      }
    }
    const next = result.nextCursor;
    if (typeof next !== 'string') return done(undefined);
    if (next.length > LIMITS.wire.cursor) return done(`a page cursor of ${next.length} characters`);
    if (cursors.has(next)) return done('the server repeated a page cursor');
    if (pages >= limits.pages) return done(`more than ${limits.pages} pages`, true);
    cursors.add(next);
    cursor = next;
    await breath();
  }

  function done(incomplete: string | undefined, isCut = false): ToolList {
    return { tools: [...tools.values()], skipped, incomplete, ...(isCut && { isCut }) };
  }
}

/** Checks one entry: returns the tool as we keep it, or why it is left out. */
export function checkTool(
  entry: unknown,
  limits: Pick<ToolListLimits, 'definitionBytes' | 'descriptionChars'>,
  redact: Redact = redactUnknown,
): { readonly tool: ToolDefinition; readonly bytes: number } | { readonly name: unknown; readonly reason: string } {
  if (typeof entry !== 'object' || entry === null) return { name: undefined, reason: 'not an object' };
  const { name, inputSchema, ...rest } = entry as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') return { name, reason: 'the name is missing' };
  if (name.length > LIMITS.names.tool)
    return { name, reason: `the name is longer than ${LIMITS.names.tool} characters` };
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name)) return { name, reason: 'the name has control characters' };
  // Such a name looks like another one. It cannot be cleaned either: the tool has no other name to be called by.
  if (!isPlain(name)) return { name, reason: 'the name has invisible characters' };
  const plain = plainName(name);
  if (plain !== name && (META_TOOL_NAMES as readonly string[]).includes(plain.toLowerCase()))
    return { name, reason: `the name looks like "${plain}", a tool of this gateway` };
  if (!isObject(inputSchema)) return { name, reason: 'inputSchema is not an object' };
  const bytes = jsonLength(entry);
  if (bytes === undefined) return { name, reason: 'the definition is nested too deeply' };
  if (bytes > limits.definitionBytes)
    return { name, reason: `the definition has ${bytes} bytes, more than ${limits.definitionBytes}` };
  const fault = inputFault(inputSchema) ?? headerFault(inputSchema);
  if (fault) return { name, reason: fault };
  const { description, ...fields } = withoutIllTyped(rest);
  return {
    bytes,
    tool: {
      ...fields,
      name,
      ...(typeof description === 'string' && { description: shortened(description, limits.descriptionChars, redact) }),
      inputSchema: completeInput(inputSchema),
    },
  };
}

/** Secrets are removed before the text is cut. */
const shortened = (text: string, maxChars: number, redact: Redact): string =>
  text.length > maxChars ? redact.cut(text, maxChars) : text;

const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function jsonLength(value: unknown): number | undefined {
  try {
    return JSON.stringify(value).length;
  } catch {
    return undefined;
  }
}
