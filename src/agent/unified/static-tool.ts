/**
 * Registers a program's functions, in the spelling of specification 002, with the `ToolRegistry` of the static tools.
 * @module
 */
import { DiscoveryError, ValidationError } from '../../core/errors.ts';
import { isReservedTool } from '../../core/own-server.ts';
import type { CallToolResult, JsonSchema } from '../../core/types.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { refuseUnknown } from '../formats/refuse-unknown.ts';
import { exportSchema, type ToJsonSchema } from '../registry/schema-export.ts';
import type { StandardSchema } from '../registry/standard-schema.ts';
import type { ToolSchema } from '../registry/tool-registration.ts';
import type { ToolRegistry } from '../registry/tool-registry.ts';
import { isRetryable } from './tool-error.ts';

/** What a handler may return: text, a whole result, or data, which is passed on as JSON. */
export type StaticToolAnswer = string | CallToolResult | object | number | boolean | null | undefined;

/** What a handler receives beside its arguments. */
interface OwnToolContext {
  readonly traceId: string | undefined;
  /** Aborts when the caller cancels or the call times out. */
  readonly signal: AbortSignal;
}

/** A program's own function. What it throws becomes TOOL_EXECUTION_FAILED. */
export type StaticToolHandler<Args extends object = Readonly<Record<string, unknown>>> = (
  args: Args,
  context: OwnToolContext,
) => StaticToolAnswer | Promise<StaticToolAnswer>;

/** The arguments that a schema of zod, valibot or arktype gives a handler. */
export type StandardArguments<Schema extends StandardSchema> =
  Schema extends StandardSchema<unknown, infer Value extends object> ? Value : never;

/** A tool as Anthropic or MCP spells it. Fields that only Anthropic has appear only in Anthropic's format. */
export interface StaticToolDefinition<Schema extends ToolSchema = JsonSchema> {
  /** If given, must equal the name that the tool is registered under. */
  readonly name?: string | undefined;
  /** Tells the model what the tool does. */
  readonly description?: string | undefined;
  /** The schema of the arguments. Default: no arguments. */
  readonly input_schema?: Schema | undefined;
  /** `input_schema`, as MCP spells it. */
  readonly inputSchema?: Schema | undefined;
  readonly type?: 'custom' | null | undefined;
  readonly strict?: boolean | undefined;
  readonly cache_control?: unknown;
  readonly defer_loading?: boolean | undefined;
  readonly eager_input_streaming?: boolean | null | undefined;
  readonly input_examples?: unknown;
  readonly allowed_callers?: unknown;
}

/** Fields of a definition that only Anthropic's format has. */
export type AnthropicFields = Readonly<Record<string, unknown>>;

const KEYS: readonly (keyof StaticToolDefinition)[] = [
  ...(['name', 'description', 'input_schema', 'inputSchema', 'type', 'strict', 'cache_control'] as const),
  ...(['defer_loading', 'eager_input_streaming', 'input_examples', 'allowed_callers'] as const),
];

const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** Registers a function. Returns the fields that only Anthropic has. Throws `ValidationError` for an invalid tool. */
export function registerStatic(
  registry: ToolRegistry,
  name: string,
  handler: StaticToolHandler<never>,
  definition: StaticToolDefinition<ToolSchema>,
  convert?: ToJsonSchema,
): AnthropicFields {
  if (typeof name !== 'string' || !NAME.test(name))
    throw new ValidationError(
      `"${name}" cannot be a tool name: use a letter or "_", then up to 63 letters, digits, "_" or "-".`,
    );
  if (isReservedTool(name))
    throw new ValidationError(`"${name}" is the name of a meta-tool of the engine; choose another name.`);
  if (typeof handler !== 'function') throw new ValidationError(`The handler of "${name}" must be a function.`);
  if (typeof definition !== 'object' || definition === null)
    throw new ValidationError(`The definition of "${name}" must be an object: { description, input_schema }.`);
  refuseUnknown(definition, KEYS, `The definition of "${name}"`);
  const { name: own = name, description = '', input_schema, inputSchema, ...rest } = definition;
  if (own !== name) throw new ValidationError(`The definition of "${name}" calls it "${own}"; use one name.`);
  if (input_schema !== undefined && inputSchema !== undefined)
    throw new ValidationError(`The definition of "${name}" has both input_schema and inputSchema; keep one.`);
  const schema = input_schema ?? inputSchema ?? { type: 'object', properties: {} };
  // Checked here so that an error names this registry; `ToolRegistry` exports the schema again.
  exportSchema(schema, 'input', `The schema of "${name}"`, convert, 'UnifiedToolRegistry');
  registry.registerTool(name, { description, inputSchema: schema as JsonSchema }, async (args, { traceId, signal }) => {
    try {
      return await handler(args as never, { traceId, signal });
    } catch (thrown) {
      throw isRetryable(thrown) ? asRetryable(thrown) : thrown;
    }
  });
  // An undefined field must not override the options of a definition.
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
}

/** Marks a temporary error, such as a reset connection, as retryable. */
const asRetryable = (thrown: unknown): DiscoveryError =>
  thrown instanceof DiscoveryError
    ? thrown
    : new DiscoveryError('TOOL_EXECUTION_ERROR', messageOf(thrown), { retryable: true, outcome: 'failed' });
