/**
 * Makes the definitions of a registry's tools for any API, and keeps them until the tools change.
 * @module
 */

import { ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type {
  AnthropicTool,
  DefinitionSet,
  DefinitionsOf,
  OptionsOf,
  ToolFormat,
} from '../formats/definition-types.ts';
import { toDefinitions } from '../formats/to-definitions.ts';
import { claudeTool } from './claude-set.ts';
import { type FoundTool, refOf, type ToolEntry, type ToolTable } from './tool-table.ts';

/** A tool for Anthropic's Messages API, with the program's extra fields, such as `cache_control`. */
export type ClaudeTool = AnthropicTool;

/** Options of a format, without names: the registry makes those. */
export type DefinitionOptions<F extends ToolFormat> = { readonly format: F } & Omit<OptionsOf[F], 'names'>;

/** The cache key of plain Anthropic definitions, which the table makes itself. */
const PLAIN = JSON.stringify([['format', 'anthropic']]);

export class Definitions {
  readonly #table: ToolTable;
  /** Definition sets by their options, cached until the table changes. */
  #kept: { readonly entries: readonly ToolEntry[]; readonly sets: Map<string, DefinitionSet<ToolFormat>> } | undefined;

  constructor(table: ToolTable) {
    this.#table = table;
  }

  set<F extends ToolFormat>(options: DefinitionOptions<F>): DefinitionSet<F> {
    if ('names' in options) throw new ValidationError('The registry makes the names: leave out "names".');
    const set = this.#made(options) as DefinitionSet<F>;
    return { ...set, definitions: copyOf<F>(set.definitions) };
  }

  /** One tool in Anthropic's format. */
  claudeTool(found: FoundTool): ClaudeTool {
    const name = this.#table.view.names.nameOf(refOf(found)) ?? found.definition.name;
    return withExtras({ ...(claudeTool(found.definition) as AnthropicTool), name }, found);
  }

  #made<F extends ToolFormat>(options: DefinitionOptions<F>): DefinitionSet<ToolFormat> {
    const { entries, described, names, claude } = this.#table.view;
    if (this.#kept?.entries !== entries) this.#kept = { entries, sets: new Map() };
    const { sets } = this.#kept;
    const key = keyOf(options);
    const kept = key === undefined ? undefined : sets.get(key);
    if (kept) return kept;
    const made =
      key === PLAIN ? claude : toDefinitions(described, { ...options, names } as { format: F } & OptionsOf[F]);
    const set = (isAnthropic(made) ? withOwn(made, entries) : made) as DefinitionSet<ToolFormat>;
    if (key !== undefined && sets.size < LIMITS.cache.definitionSets) sets.set(key, set);
    return set;
  }
}

/** Adds the fields that a program gave for Anthropic only. */
function withOwn(set: DefinitionSet<'anthropic'>, entries: readonly ToolEntry[]): DefinitionSet<'anthropic'> {
  const own = new Map(entries.filter(({ from }) => from).map((entry) => [entry.name, entry]));
  return { ...set, definitions: set.definitions.map((tool) => withExtras(tool, own.get(tool.name))) };
}

const isAnthropic = (set: DefinitionSet<ToolFormat>): set is DefinitionSet<'anthropic'> =>
  Array.isArray(set.definitions) && set.definitions.every((tool) => 'input_schema' in tool);

const withExtras = (tool: AnthropicTool, found: FoundTool | undefined): AnthropicTool => ({
  ...tool,
  ...found?.from?.anthropic?.get(found.definition.name),
});

/** Copies definitions, because programs change them, for example to mark the last one for caching. */
function copyOf<F extends ToolFormat>(definitions: DefinitionsOf[F]): DefinitionsOf[F] {
  const copy = Array.isArray(definitions) ? definitions.map((tool) => ({ ...tool })) : { ...definitions };
  return copy as DefinitionsOf[F];
}

/** The cache key of options; undefined if one is a function, whose answers may change. */
function keyOf(options: object): string | undefined {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  if (entries.some(([, value]) => typeof value === 'function')) return undefined;
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
