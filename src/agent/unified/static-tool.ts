/**
 * Makes tools of a program's own functions, which check their arguments and answer like any other tool, and offers them to an
 * engine as a provider.
 * @module
 */
import { DiscoveryError, ToolNotFoundError, ValidationError } from '../../core/errors.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import type { CallToolResult, JsonSchema, ToolDefinition } from '../../core/types.ts';
import { repairArguments } from '../../execution/validation/repair-arguments.ts';
import { SchemaValidators } from '../../execution/validation/schema-validators.ts';
import { nestsTooDeep } from '../../json/json-nesting.ts';
import { refuseUnknown } from '../formats/refuse-unknown.ts';
import { argumentsProblem } from '../formats/tool-call.ts';
import { readArguments, refuseArguments } from '../registry/check-arguments.ts';
import { toCallToolResult } from '../registry/handler-result.ts';
import { checkFor } from '../registry/registered-tool.ts';
import { exportSchema, type ToJsonSchema } from '../registry/schema-export.ts';
import type { StandardSchema } from '../registry/standard-schema.ts';
import type { ToolSchema } from '../registry/tool-registration.ts';
import type { OwnToolContext, StaticTool } from './tool-table.ts';

/** What a handler may give back: text, a whole result, or data, which is handed on as JSON. */
export type StaticToolAnswer = string | CallToolResult | object | number | boolean | null | undefined;

/** A program's own function. What it throws becomes TOOL_EXECUTION_FAILED. */
export type StaticToolHandler<Args extends object = Readonly<Record<string, unknown>>> = (
  args: Args,
  context: OwnToolContext,
) => StaticToolAnswer | Promise<StaticToolAnswer>;

/** The arguments that a schema of zod, valibot or arktype gives a handler. */
export type StandardArguments<Schema extends StandardSchema> =
  Schema extends StandardSchema<unknown, infer Value extends object> ? Value : never;

/** A tool as Anthropic writes it; MCP's `inputSchema` will do as well. What only Anthropic knows is shown only there. */
export interface StaticToolDefinition<Schema extends ToolSchema = JsonSchema> {
  /** If given, the name it is registered under. */
  readonly name?: string | undefined;
  /** What it does, for the model. */
  readonly description?: string | undefined;
  /** What it takes; none means nothing. */
  readonly input_schema?: Schema | undefined;
  /** The same, as MCP spells it. */
  readonly inputSchema?: Schema | undefined;
  readonly type?: 'custom' | null | undefined;
  readonly strict?: boolean | undefined;
  readonly cache_control?: unknown;
  readonly defer_loading?: boolean | undefined;
  readonly eager_input_streaming?: boolean | null | undefined;
  readonly input_examples?: unknown;
  readonly allowed_callers?: unknown;
}

const KEYS: readonly (keyof StaticToolDefinition)[] = [
  ...(['name', 'description', 'input_schema', 'inputSchema', 'type', 'strict', 'cache_control'] as const),
  ...(['defer_loading', 'eager_input_streaming', 'input_examples', 'allowed_callers'] as const),
];

const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** One for all registries: schemas are remembered for as long as their tools live, and no thread starts for plain ones. */
const validators = new SchemaValidators();

/** Makes a tool of a function. Throws `ValidationError` for what cannot be one. */
export function createStaticTool(
  name: string,
  handler: StaticToolHandler<never>,
  definition: StaticToolDefinition<ToolSchema>,
  convert?: ToJsonSchema,
): StaticTool {
  if (typeof name !== 'string' || !NAME.test(name))
    throw new ValidationError(
      `"${name}" cannot name a tool: write a letter or "_", then up to 63 letters, digits, "_" or "-".`,
    );
  if (typeof handler !== 'function') throw new ValidationError(`The handler of "${name}" must be a function.`);
  if (typeof definition !== 'object' || definition === null)
    throw new ValidationError(`The definition of "${name}" must be an object: { description, input_schema }.`);
  refuseUnknown(definition, KEYS, `The definition of "${name}"`);
  const { name: own = name, description, input_schema, inputSchema, ...rest } = definition;
  if (own !== name) throw new ValidationError(`The definition of "${name}" calls it "${own}"; use one name.`);
  if (input_schema !== undefined && inputSchema !== undefined)
    throw new ValidationError(`The definition of "${name}" has both input_schema and inputSchema; keep one.`);
  const schema = input_schema ?? inputSchema ?? { type: 'object', properties: {} };
  const json = exportSchema(schema, 'input', `The schema of "${name}"`, convert, 'UnifiedToolRegistry');
  const tool: ToolDefinition = {
    name,
    ...(description !== undefined && { description }),
    inputSchema: json,
  };
  const refuse = refuseArguments(name);
  const check = checkFor(schema, json, validators, refuse);
  const run: StaticTool['run'] = async (sent, context) => {
    const read = readArguments(sent, json, refuse);
    return toCallToolResult(await handler((await check(read)) as never, context));
  };
  // What is not said must not override what definitions are asked for with.
  const anthropic = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { definition: tool, anthropic, run };
}

/** Offers static tools to an engine. */
export const staticProvider = (tools: ReadonlyMap<string, StaticTool>): ToolProvider => ({
  name: 'own',
  get revision() {
    return tools.size;
  },
  listToolMetadata: () => [...tools.values()].map(({ definition }) => definition),
  getTool: (name) => tools.get(name)?.definition,
  callTool: async (name, args, { signal, traceId }) => {
    const tool = tools.get(name);
    if (!tool) throw new ToolNotFoundError(name);
    return tool.run(args, { signal, traceId });
  },
});

/** What was sent as an object, or the text of one. Throws where it is none. */
export function toObject(tool: string, sent: unknown): Readonly<Record<string, unknown>> {
  const args = repairArguments(sent);
  if (args !== undefined && !nestsTooDeep(args)) return args;
  const problem = args === undefined ? argumentsProblem(sent) : 'are nested too deep';
  throw new DiscoveryError('TOOL_VALIDATION_ERROR', `Arguments of ${tool} ${problem}.`, {
    tool,
    outcome: 'not_sent',
    schema: { type: 'object' },
  });
}
