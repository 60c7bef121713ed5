/**
 * What is registered: the definition of a tool, its handler, and the types that flow from one to the other.
 * @module
 */
import type { ToolContext } from '../../core/tool-provider.ts';
import type { CallToolResult, ContentBlock, JsonSchema, ToolAnnotations } from '../../core/types.ts';
import type { StandardSchema } from './standard-schema.ts';

/** A schema of zod 4, valibot or arktype, or raw JSON Schema. */
export type ToolSchema = StandardSchema | JsonSchema;

/** The definition of a tool of one's own. */
export interface ToolRegistration<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema> {
  /** 1 to 128 of letters, digits, `_`, `-`, `.` and `/`; unique in the registry. */
  readonly name: string;
  /** What clients show people in place of the name. */
  readonly title?: string | undefined;
  /** What it does, and when to use it: models choose by this, and search finds the tool by it. */
  readonly description: string;
  /** What the handler gets; none means an object of anything. */
  readonly inputSchema?: Input | undefined;
  /** What the handler returns as an object; what does not fit becomes an error result. */
  readonly outputSchema?: Output | undefined;
  /** Hints for clients: whether it only reads, whether it destroys, whether it may be repeated. */
  readonly annotations?: ToolAnnotations | undefined;
  /** Pictures that clients may show, as MCP has them; handed on. */
  readonly icons?: readonly object[] | undefined;
  /** Anything else for clients; handed on. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /** True: it stands in `tools/list`. Default: only `tool_search` finds it. */
  readonly visible?: boolean | undefined;
}

/** The arguments a handler gets: what the schema makes of what was sent. */
export type ArgumentsOf<Input extends ToolSchema> =
  Input extends StandardSchema<unknown, infer Value> ? Value : Readonly<Record<string, unknown>>;

type StructuredOf<Output extends ToolSchema> = Output extends StandardSchema<infer Value, unknown> ? Value : object;

/** A result as it goes over the wire; every object would fit the type of results in general. */
type WholeResult = CallToolResult &
  ({ readonly content: readonly ContentBlock[] } | { readonly resultType: 'input_required' });

/**
 * What a handler may return: a whole result; a text, a number or a truth value, which become text; an object, which
 * becomes `structuredContent` as well; or nothing.
 */
export type HandlerResult<Output extends ToolSchema = JsonSchema> =
  | WholeResult
  | string
  | number
  | boolean
  | StructuredOf<Output>
  | null
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement returns this
  | void
  | undefined;

/** Runs a tool. What it throws becomes an `isError` result. */
export type ToolHandler<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema> = (
  args: ArgumentsOf<Input>,
  context: ToolContext,
) => HandlerResult<Output> | Promise<HandlerResult<Output>>;
