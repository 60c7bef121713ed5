/**
 * Makes definitions in Anthropic's format and caches them by tool, so that one changed tool among ten thousand costs one
 * definition.
 * @module
 */

import type { ToolDefinition, ToolExample } from '../../core/types.ts';
import type { AnthropicTool, DefinitionSet, DescribedTool, FormatProblem } from '../formats/definition-types.ts';
import type { NameTable } from '../formats/names.ts';
import { toDefinitions } from '../formats/to-definitions.ts';
import type { ExcludedTool, ToolEntry } from './tool-table.ts';

/** A cached definition. It does not depend on the tool's source or shown name. */
interface Made {
  readonly tool: AnthropicTool | undefined;
  readonly problems: readonly FormatProblem[];
}

const made = new WeakMap<ToolDefinition, Made>();
const OWN_NAMES: NameTable = { size: 1, nameOf: ({ tool }) => tool, refOf: () => undefined, entries: () => [] };

/** The definitions of tools whose names are all different. */
export function claudeSet(entries: readonly ToolEntry[], names: NameTable): DefinitionSet<'anthropic'> {
  const definitions: AnthropicTool[] = [];
  const problems: FormatProblem[] = [];
  for (const { name, server, definition } of entries) {
    const { tool, problems: found } = madeOf(definition);
    if (tool) definitions.push({ ...tool, name });
    for (const problem of found) problems.push({ ...problem, server: server ?? '' });
  }
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const readCall: DefinitionSet<'anthropic'>['readCall'] = (call) => {
    const entry = byName.get(call.name);
    return entry && toDefinitions([describe(entry)], { format: 'anthropic', names }).readCall(call);
  };
  return { definitions, names, problems, readCall };
}

/** A tool in Anthropic's format, under the name it was listed with; undefined when it cannot be used. */
export const claudeTool = (definition: ToolDefinition): AnthropicTool | undefined => madeOf(definition).tool;

/** Why a tool cannot be used, if so. */
export const leftOut = (serverName: string | null, definition: ToolDefinition): readonly ExcludedTool[] =>
  madeOf(definition).tool
    ? []
    : madeOf(definition)
        .problems.filter(({ kind }) => kind === 'left-out')
        .slice(0, 1)
        .map(({ message }) => ({ serverName, toolName: definition.name, reason: message }));

/** Converts a tool to the input of `toDefinitions`. */
export const describe = ({ server, definition }: Pick<ToolEntry, 'server' | 'definition'>): DescribedTool => ({
  ...(server !== null && { server }),
  name: definition.name,
  title: definition.title,
  description: definition.description,
  inputSchema: definition.inputSchema,
  ...(Array.isArray(definition.examples) && { examples: definition.examples as readonly ToolExample[] }),
});

function madeOf(definition: ToolDefinition): Made {
  const known = made.get(definition);
  if (known) return known;
  const tools = [describe({ server: null, definition })];
  const { definitions, problems } = toDefinitions(tools, { format: 'anthropic', names: OWN_NAMES });
  const one = { tool: definitions[0], problems };
  made.set(definition, one);
  return one;
}
