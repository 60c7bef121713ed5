/**
 * Checks what a provider lists: bounds names, texts and sizes, and drops bad entries without affecting others.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { ToolSummary } from '../../core/tool-provider.ts';
import type { JsonSchema, ToolDefinition } from '../../core/types.ts';
import { jsonBytes } from '../../execution/json-bytes.ts';
import { JsonCopier } from '../../json/json-copy.ts';
import { isObject } from '../../json/plain-object.ts';
import { completeInput, inputFault, withoutIllTyped } from '../../schema/tool-fields.ts';
import { oneLine } from '../../text/plain-text.ts';

/** How much a provider may list. */
export interface ListLimits {
  /** Maximum number of tools of a shared provider. Default 10,000. */
  readonly maxTools: number;
  /** All texts and schemas of a list together. Default 16 MiB. */
  readonly maxListBytes: number;
  /** One definition. Default 256 KiB. */
  readonly maxToolBytes: number;
}

/** The usable tools of a list, by name, and why others are missing. */
export interface CheckedList {
  readonly tools: ReadonlyMap<string, ToolSummary>;
  readonly problem: string | undefined;
}

const UNUSABLE_NAME = /[\u0000-\u001f\u007f]/;

/** Checks a list. Throws if it is no array. Of two tools with one name, the first counts. */
export function checkList(list: unknown, limits: ListLimits): CheckedList {
  if (!Array.isArray(list)) throw new TypeError('listToolMetadata did not return a list');
  const tools = new Map<string, ToolSummary>();
  let bytes = 0;
  let unusable = 0;
  let reason = '';
  for (const entry of list) {
    if (tools.size >= limits.maxTools)
      return { tools, problem: `lists more than ${limits.maxTools} tools; the rest is left out` };
    const read = tryRead(entry, limits.maxToolBytes);
    if (read === undefined || 'fault' in read || tools.has(read.tool.name)) {
      unusable++;
      if (read && 'fault' in read) reason ||= ` ("${oneLine(read.name, LIMITS.text.title)}": ${read.fault})`;
      continue;
    }
    const { tool } = read;
    bytes += read.bytes;
    if (bytes > limits.maxListBytes) {
      return {
        tools,
        problem: `lists more than ${limits.maxListBytes} bytes; ${list.length - tools.size} tools are left out`,
      };
    }
    tools.set(tool.name, tool);
  }
  return {
    tools,
    problem:
      unusable === 0
        ? undefined
        : `lists ${unusable} unusable or duplicate ${unusable === 1 ? 'entry' : 'entries'}${reason}`,
  };
}

interface ReadEntry {
  readonly tool: ToolSummary;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** A tool that clients would refuse, and why. */
interface Refused {
  readonly name: string;
  readonly fault: string;
}

/** Frozen entries are read once. */
const readEntries = new WeakMap<object, ReadEntry>();

/** Undefined for an entry that is no tool or cannot be read. */
function tryRead(entry: unknown, maxBytes: number): ReadEntry | Refused | undefined {
  const known = readEntries.get(entry as object);
  if (known?.maxBytes === maxBytes) return known;
  try {
    const read = readEntry(entry, maxBytes);
    if (read && 'tool' in read && Object.isFrozen(entry)) readEntries.set(entry as object, read);
    return read;
  } catch {
    return undefined;
  }
}

function readEntry(entry: unknown, maxBytes: number): ReadEntry | Refused | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { name, title, description, keywords, visible, ...rest } = entry as Record<keyof ToolSummary, unknown>;
  if (typeof name !== 'string' || name === '' || name.length > LIMITS.names.tool || UNUSABLE_NAME.test(name))
    return undefined;
  const words = Array.isArray(keywords) ? keywords.filter((word) => typeof word === 'string' && word !== '') : [];
  const [inputSchema, inputBytes] = copyOf(rest.inputSchema, maxBytes);
  const [outputSchema, outputBytes] = copyOf(rest.outputSchema, maxBytes);
  const [annotations, annotationsBytes] = copyOf(rest.annotations, maxBytes);
  const fault = inputSchema && inputFault(inputSchema);
  if (fault) return { name, fault };
  const tool: ToolSummary = withoutIllTyped({
    name,
    ...(typeof title === 'string' && { title: title.slice(0, LIMITS.text.title) }),
    ...(typeof description === 'string' && { description: description.slice(0, LIMITS.text.description) }),
    ...(words.length > 0 && {
      keywords: words.slice(0, LIMITS.text.keywords).map((word) => word.slice(0, LIMITS.text.keyword)),
    }),
    ...(visible === true && { visible }),
    ...(inputSchema && { inputSchema: completeInput(inputSchema) }),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  });
  return { tool, bytes: textSize(tool) + inputBytes + outputBytes + annotationsBytes, maxBytes };
}

/**
 * Copies a part of a definition, so that later changes by the provider have no effect. Returns the copy and its size;
 * no copy of what is unusable.
 */
function copyOf(value: unknown, maxBytes: number): readonly [JsonSchema | undefined, number] {
  if (!isObject(value)) return NONE;
  try {
    const copy = new JsonCopier(maxBytes).copy(value, 0);
    const bytes = jsonBytes(copy, maxBytes);
    return isObject(copy) && bytes <= maxBytes ? [copy, bytes] : NONE;
  } catch {
    return NONE;
  }
}

const NONE = [undefined, 0] as const;

const textSize = ({ name, title = '', description = '', keywords = [] }: ToolSummary): number =>
  name.length + title.length + description.length + keywords.reduce((sum, word) => sum + word.length, 0);

/** A definition from `getTool`, if it is usable. */
export function checkDefinition(value: unknown, name: string, maxBytes: number): ToolDefinition | undefined {
  const [definition] = copyOf(value, maxBytes);
  if (definition === undefined) return undefined;
  const inputSchema = isObject(definition.inputSchema) ? definition.inputSchema : {};
  if (inputFault(inputSchema)) return undefined;
  return withoutIllTyped({ ...definition, name, inputSchema: completeInput(inputSchema) });
}

/** Cached by entry, because validators recognise a schema by its identity. */
const definitions = new WeakMap<ToolSummary, ToolDefinition>();

/** The definition in a list entry, if the entry has a schema. */
export function definitionOf(tool: ToolSummary): ToolDefinition | undefined {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  if (inputSchema === undefined) return undefined;
  const known = definitions.get(tool);
  if (known !== undefined) return known;
  const definition: ToolDefinition = {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  };
  definitions.set(tool, definition);
  return definition;
}
