/**
 * A program's own function as a tool: handler and definition in, something that checks its arguments, runs and answers like
 * any other tool out.
 * @module
 */
import { DiscoveryError, ValidationError } from '../errors.ts';
import { repairArguments } from '../execution/validation/repair-arguments.ts';
import { SchemaValidators } from '../execution/validation/schema-validators.ts';
import { nestsTooDeep } from '../json-nesting.ts';
import { checkValue, readArguments, refuseArguments } from '../registry/check-arguments.ts';
import { toCallToolResult } from '../registry/handler-result.ts';
import type { CallToolResult, JsonSchema, ToolDefinition } from '../types.ts';
import type { OwnTool, OwnToolContext } from './tool-table.ts';

/** What a handler may give back: text, a whole result, or data, which is handed on as JSON. */
export type StaticToolAnswer = string | CallToolResult | object | number | boolean | null | undefined;

/** A program's own function. What it throws becomes TOOL_EXECUTION_FAILED. */
export type StaticToolHandler<Args extends object = Readonly<Record<string, unknown>>> = (
  args: Args,
  context: OwnToolContext,
) => StaticToolAnswer | Promise<StaticToolAnswer>;

/** A tool as Anthropic writes it; MCP's `inputSchema` will do as well. What only Anthropic knows is shown only there. */
export interface StaticToolDefinition {
  /** If given, the name it is registered under. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly input_schema?: JsonSchema | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly type?: 'custom' | null | undefined;
  readonly strict?: boolean | undefined;
  readonly cache_control?: unknown;
  readonly defer_loading?: boolean | undefined;
  readonly input_examples?: unknown;
  readonly allowed_callers?: unknown;
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** One for all registries: schemas are remembered for as long as their tools live, and no thread starts for plain ones. */
const validators = new SchemaValidators();

/** Makes a tool of a function. Throws `ValidationError` for what cannot be one. */
export function createStaticTool(
  name: string,
  handler: StaticToolHandler<never>,
  definition: StaticToolDefinition,
): OwnTool {
  if (typeof name !== 'string' || !NAME.test(name))
    throw new ValidationError(
      `"${name}" cannot name a tool: write a letter or "_", then up to 63 letters, digits, "_" or "-".`,
    );
  if (typeof handler !== 'function') throw new ValidationError(`The handler of "${name}" must be a function.`);
  if (typeof definition !== 'object' || definition === null)
    throw new ValidationError(`The definition of "${name}" must be an object: { description, input_schema }.`);
  const { name: own = name, description, input_schema, inputSchema, ...rest } = definition;
  if (own !== name) throw new ValidationError(`The definition of "${name}" calls it "${own}"; use one name.`);
  if (input_schema !== undefined && inputSchema !== undefined)
    throw new ValidationError(`The definition of "${name}" has both input_schema and inputSchema; keep one.`);
  const schema = input_schema ?? inputSchema ?? { type: 'object', properties: {} };
  if (typeof schema !== 'object' || schema === null || (schema.type ?? 'object') !== 'object')
    throw new ValidationError(`The schema of "${name}" must be a JSON Schema of type "object".`);
  const tool: ToolDefinition = {
    name,
    ...(description !== undefined && { description }),
    inputSchema: schema,
  };
  const refuse = refuseArguments(name);
  const run: OwnTool['run'] = async (sent, context) => {
    const args = readArguments(sent, schema, refuse);
    await checkValue(validators, schema, args, refuse);
    return toCallToolResult(await (handler as StaticToolHandler<object>)(args, context));
  };
  // What is not said must not override what definitions are asked for with.
  const anthropic = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { definition: tool, anthropic, run };
}

/** What was sent as an object, or the text of one. Throws where it is none. */
export function toObject(tool: string, sent: unknown): Readonly<Record<string, unknown>> {
  const args = repairArguments(sent);
  if (args !== undefined && !nestsTooDeep(args)) return args;
  const problem = args === undefined ? 'must be a JSON object' : 'are nested too deep';
  throw new DiscoveryError('TOOL_VALIDATION_ERROR', `Arguments of ${tool} ${problem}.`, {
    tool,
    outcome: 'not_sent',
    schema: { type: 'object' },
  });
}
