/**
 * The way back from what a model wrote: a name in, the tool it was shown under that name out; arguments in, the same in the
 * tool's own words out. What a call means depends on the tools and on the call, not on how other requests asked for theirs.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { liftArguments } from '../../execution/validation/repair-arguments.ts';
import type { NamedCall, ToolFormat } from '../formats/definition-types.ts';
import { makeSchema, type SchemaTarget } from '../formats/make-schema.ts';
import { StrictAllowance } from '../formats/strict-limits.ts';
import { argumentsOf } from '../formats/tool-call.ts';
import type { ShownNames } from './shown-names.ts';
import type { ToolEntry, ToolTable } from './tool-table.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Read = (args: Arguments) => Arguments;

/** Names are given back first: which nulls may go is written under the tool's own. */
const ALL_TARGETS: readonly SchemaTarget[] = ['anthropic', 'gemini-json-schema', 'openai'];

export class CallReader {
  readonly #table: ToolTable;
  /** Latest first. */
  #seen: readonly ShownNames[] = [];

  constructor(table: ToolTable) {
    this.#table = table;
  }

  /** Models have seen the names as they are now. */
  handedOut(): void {
    const { shown } = this.#table;
    if (this.#seen[0] !== shown) this.#seen = [shown, ...this.#seen].slice(0, LIMITS.cache.earlierNames);
  }

  /** The tool that is meant: by the names models were shown, else by any way to read a name as server and tool. */
  find({ name, namespace }: NamedCall): ToolEntry | undefined {
    for (const names of new Set([...this.#seen, this.#table.shown])) {
      const ref = names.refOf(name, namespace);
      const entry = ref && this.#table.findRef(ref.server, ref.tool);
      if (entry) return entry;
    }
    // In a namespace, a bare name must not lead to a tool of somebody else.
    return namespace ? this.#table.findRef(namespace, name) : this.#table.find(name);
  }
}

const readers = new WeakMap<ToolDefinition, Map<SchemaTarget, Read>>();

/**
 * What a model wrote, as the tool wants it: parameters under their own names, without the nulls that strict mode asks for
 * in place of what is left out. Without a format, in the words of any. What is no object stays as it is.
 */
export function toOwnWords(tool: ToolDefinition, sent: unknown, format: ToolFormat | undefined): unknown {
  const args = argumentsOf(sent);
  if (args === undefined) return sent;
  const lifted = liftArguments(args, tool.inputSchema);
  const targets = format === undefined ? ALL_TARGETS : [targetOf(format)];
  return targets.reduce((read, target) => readerOf(tool, target)(read), lifted);
}

function readerOf(tool: ToolDefinition, target: SchemaTarget): Read {
  const known = readers.get(tool) ?? new Map<SchemaTarget, Read>();
  readers.set(tool, known);
  const read = known.get(target) ?? makeReader(tool.inputSchema, target);
  known.set(target, read);
  return read;
}

/** As if strict, whatever was asked for: a null that the tool's schema forbids means the same in both. */
function makeReader(schema: unknown, target: SchemaTarget): Read {
  const made = makeSchema(schema, target, { strict: target === 'openai', allowance: new StrictAllowance() });
  return 'refused' in made ? (args) => args : made.readArguments;
}

const targetOf = (format: ToolFormat): SchemaTarget => {
  if (format === 'gemini') return 'gemini-json-schema';
  return format === 'anthropic' ? 'anthropic' : 'openai';
};
