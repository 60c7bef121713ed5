/**
 * Converts a model's arguments to the tool's own schema, whichever definitions the model was given.
 * @module
 */

import type { ToolDefinition } from '../../core/types.ts';
import { checkValue } from '../../execution/validation/check-value.ts';
import { unwrapped } from '../../execution/validation/repair-arguments.ts';
import { checkSchema } from '../../execution/validation/schema-check.ts';
import { jsonFault } from '../../json/json-fault.ts';
import type { ToolFormat } from './definition-types.ts';
import { makeSchema, type SchemaTarget, TARGETS } from './make-schema.ts';
import { StrictAllowance } from './strict-limits.ts';
import { argumentsOf } from './tool-call.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Read = (args: Arguments) => Arguments;

/** Names are restored first (Anthropic, Gemini), because nulls are dropped by the tool's own names (OpenAI). */
const ALL_TARGETS: readonly SchemaTarget[] = ['anthropic', 'gemini-json-schema', 'openai'];

const readers = new WeakMap<ToolDefinition, Map<SchemaTarget, Read>>();

/**
 * Restores the names of parameters and drops the nulls that strict mode requires for left-out parameters. Without a
 * format, undoes the changes of every format. Arguments that are not an object stay as they are.
 */
export function toOwnWords(tool: ToolDefinition, sent: unknown, format: ToolFormat | undefined): unknown {
  const args = argumentsOf(sent);
  // The call refuses arguments that JSON cannot have.
  if (args === undefined || jsonFault(args) !== undefined) return sent;
  const targets = format === undefined ? ALL_TARGETS : [TARGETS[format]];
  const read = (given: Arguments) => targets.reduce((words, target) => readerOf(tool, target)(words), given);
  const [own, inner] = [read(args), unwrapped(args)];
  const meant = inner && read(inner);
  return meant && !fits(tool, own) && fits(tool, meant) ? meant : own;
}

function fits({ inputSchema }: ToolDefinition, args: Arguments): boolean {
  const checked = checkSchema(inputSchema);
  return checked.verdict === 'harmless' && checkValue(checked.root, args).length === 0;
}

function readerOf(tool: ToolDefinition, target: SchemaTarget): Read {
  const known = readers.get(tool) ?? new Map<SchemaTarget, Read>();
  readers.set(tool, known);
  const read = known.get(target) ?? makeReader(tool.inputSchema, target);
  known.set(target, read);
  return read;
}

/** Reads as if strict mode was used: without it, a null that the schema forbids also means a left-out parameter. */
function makeReader(schema: unknown, target: SchemaTarget): Read {
  const made = makeSchema(schema, target, { strict: target === 'openai', allowance: new StrictAllowance() });
  return 'refused' in made ? (args) => args : made.readArguments;
}
