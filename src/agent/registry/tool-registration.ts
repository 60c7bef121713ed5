/**
 * Describes what is registered: the options of a tool, its handler, and the types that flow from one to the other.
 * @module
 */
import type { ToolContext } from '../../core/tool-provider.ts';
import type { CallToolResult, ContentBlock, JsonSchema, ToolAnnotations } from '../../core/types.ts';
import type { SchemaType } from '../../schema/schema-type.ts';
import type { StandardSchema } from './standard-schema.ts';

/** A schema of zod 4, valibot or arktype, or raw JSON Schema. */
export type ToolSchema = StandardSchema | JsonSchema;

/** What a tool of one's own is, beside its name and its handler. */
export interface ToolOptions<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema> {
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
  /** Further words it is found by. */
  readonly keywords?: readonly string[] | undefined;
}

/** The same with the name in it. */
export interface ToolRegistration<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema>
  extends ToolOptions<Input, Output> {
  /** 1 to 128 of letters, digits, `_`, `-`, `.` and `/`; unique in the registry. */
  readonly name: string;
}

/** What `ToolHandle.update` replaces. What is left out or undefined stays as it is. */
export interface ToolChanges<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema>
  extends Partial<ToolOptions<Input, Output>> {
  readonly name?: string | undefined;
  readonly handler?: ToolHandler<Input, Output> | undefined;
  readonly enabled?: boolean | undefined;
}

/** A registered tool in the hands of the program that registered it, as in the MCP SDK. */
export interface ToolHandle<Input extends ToolSchema = JsonSchema, Output extends ToolSchema = JsonSchema> {
  /** Its name now. */
  readonly name: string;
  /** False: it is neither listed nor found nor called, but its name stays taken. */
  readonly enabled: boolean;
  /** Replaces parts of the tool at once. Throws `ValidationError`, and changes nothing, for what cannot be registered. */
  update<const NewInput extends ToolSchema, NewOutput extends ToolSchema = Output>(
    changes: ToolChanges<NewInput, NewOutput> & { readonly inputSchema: NewInput },
  ): void;
  update<NewOutput extends ToolSchema = Output>(changes: Omit<ToolChanges<Input, NewOutput>, 'inputSchema'>): void;
  enable(): void;
  disable(): void;
  /** Takes the tool away for good. */
  remove(): void;
}

/**
 * The arguments a handler gets: what the schema makes of what was sent. Raw JSON Schema gives types where it is written in
 * place or `as const`.
 */
export type ArgumentsOf<Input extends ToolSchema> =
  Input extends StandardSchema<unknown, infer Value>
    ? Value
    : unknown extends SchemaType<Input>
      ? Readonly<Record<string, unknown>>
      : SchemaType<Input>;

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
