/**
 * Declares what is registered: the options of a tool, its handler, and the types that connect them.
 * @module
 */
import type { ToolContext } from '../../core/tool-provider.ts';
import type { CallToolResult, ContentBlock, JsonSchema, ToolAnnotations } from '../../core/types.ts';
import type { SchemaType } from '../../schema/schema-type.ts';
import type { StandardSchema } from './standard-schema.ts';

/** A schema of zod 4, valibot or arktype, or raw JSON Schema. */
export type ToolSchema = StandardSchema | JsonSchema;

/** The options of a program's own tool, beside its name and handler. */
export interface ToolOptions<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema> {
  /** A name for people, shown instead of the tool's name. */
  readonly title?: string | undefined;
  /** What the tool does, and when to use it. Models choose by this text, and search finds the tool by it. */
  readonly description: string;
  /** The schema of the handler's arguments. Default: any object. */
  readonly inputSchema?: Input | undefined;
  /** The schema of the object that the handler returns. A result that does not fit becomes an error. */
  readonly outputSchema?: Output | undefined;
  /** Hints for clients: whether the tool only reads, destroys, or may be repeated. */
  readonly annotations?: ToolAnnotations | undefined;
  /** Icons for clients, as in MCP; passed on unchanged. */
  readonly icons?: readonly object[] | undefined;
  /** Anything else for clients; passed on unchanged. */
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /** Set to true to show the tool in `tools/list`. Default: only `tool_search` finds it. */
  readonly visible?: boolean | undefined;
  /** More words to find the tool by. */
  readonly keywords?: readonly string[] | undefined;
}

/** Tool options with the name included. */
export interface ToolRegistration<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema>
  extends ToolOptions<Input, Output> {
  /** 1 to 128 of letters, digits, `_`, `-`, `.` and `/`; unique in the registry. */
  readonly name: string;
}

/** The changes of `ToolHandle.update`. Missing or undefined fields stay as they are. */
export interface ToolChanges<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema>
  extends Partial<ToolOptions<Input, Output>> {
  readonly name?: string | undefined;
  readonly handler?: ToolHandler<Input, Output> | undefined;
  readonly enabled?: boolean | undefined;
}

/** The handle of a registered tool, as in the MCP SDK. */
export interface ToolHandle<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema> {
  /** The current name. */
  readonly name: string;
  /** False: the tool is neither listed, found nor called, but its name stays taken. */
  readonly enabled: boolean;
  /**
   * Replaces parts of the tool at once. Throws `ValidationError`, and changes nothing, if the result cannot be
   * registered.
   */
  update<const NewInput extends ToolSchema, NewOutput extends ToolSchema = Output>(
    changes: ToolChanges<NewInput, NewOutput> & { readonly inputSchema: NewInput },
  ): void;
  update<NewOutput extends ToolSchema = Output>(changes: Omit<ToolChanges<Input, NewOutput>, 'inputSchema'>): void;
  enable(): void;
  disable(): void;
  /** Removes the tool for good. */
  remove(): void;
}

/**
 * The arguments of a handler: the output of the schema. Raw JSON Schema gives types if it is written in place or `as
 * const`.
 */
export type ArgumentsOf<Input extends ToolSchema> =
  Input extends StandardSchema<unknown, infer Value>
    ? Value
    : unknown extends SchemaType<Input>
      ? Readonly<Record<string, unknown>>
      : SchemaType<Input>;

type StructuredOf<Output extends ToolSchema> = Output extends StandardSchema<infer Value, unknown> ? Value : object;

/** A result as it goes over the wire. Narrower than `CallToolResult`, which any object would fit. */
type WholeResult = CallToolResult &
  ({ readonly content: readonly ContentBlock[] } | { readonly resultType: 'input_required' });

/**
 * What a handler may return: a whole result; a text, number or boolean, which become text; an object, which also
 * becomes `structuredContent`; or nothing.
 */
type HandlerResult<Output extends ToolSchema = JsonSchema> =
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
