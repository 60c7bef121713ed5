/**
 * Reads the tool list of a server and checks each tool.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { META_TOOL_NAMES } from '../core/own-server.ts';
import type { ToolDefinition } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { completeInput, inputFault, withoutIllTyped } from '../schema/tool-fields.ts';
import { type Redact, redactUnknown } from '../secrets/redactor.ts';
import { isPlain, plainName } from '../text/plain-text.ts';
import { jsonLength, type PagedList, type ReadPage, readPagedList, shortened } from './paged-list.ts';
import { headerFault } from './param-headers.ts';

export interface ToolListLimits {
  readonly pages: number;
  readonly tools: number;
  readonly definitionBytes: number;
  readonly descriptionChars: number;
}

export interface ToolList extends Omit<PagedList<ToolDefinition>, 'entries'> {
  readonly tools: readonly ToolDefinition[];
}

/** Reads the tools of a server. */
export async function readToolList(
  page: ReadPage,
  limits: ToolListLimits,
  redact: Redact = redactUnknown,
): Promise<ToolList> {
  const { entries, ...rest } = await readPagedList(page, {
    key: 'tools',
    check: (entry) => {
      const checked = checkTool(entry, limits, redact);
      return 'reason' in checked ? checked : { id: checked.tool.name, entry: checked.tool, bytes: checked.bytes };
    },
    repeated: 'a tool of this name was listed before',
    limits: {
      pages: limits.pages,
      entries: limits.tools,
      bytes: LIMITS.wire.listDefinitions * limits.definitionBytes,
    },
    redact,
  });
  return { tools: entries, ...rest };
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
