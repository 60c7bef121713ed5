/**
 * Defines the formats of tool definitions for LLM APIs, one type each, as their own SDKs declare them. A new format also
 * needs rows in `to-definitions.ts` (definitions), `make-schema.ts` (`TARGETS`), `tool-call.ts` (reading calls) and
 * `tool-result.ts` (writing results).
 * @module
 */
import type { CallToolResult, ToolExample } from '../../core/types.ts';
import type { NamedTool, NameTable } from './names.ts';
import type { GeminiSchema } from './open-api-schema.ts';
import type { AiSdkOutput } from './result-types.ts';

/** The APIs and libraries that definitions can be written for. */
export const TOOL_FORMATS = ['anthropic', 'openai-chat', 'openai-responses', 'gemini', 'ai-sdk', 'langchain'] as const;

/** One of `TOOL_FORMATS`. */
export type ToolFormat = (typeof TOOL_FORMATS)[number];

/** A tool to define: as the engine lists it, or a server's definition with its name. */
export interface DescribedTool extends NamedTool {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments, as received. */
  readonly inputSchema?: unknown;
  /** Example calls. Generated ones are not sent. */
  readonly examples?: readonly ToolExample[] | undefined;
}

/** A JSON Schema whose root is an object. */
export interface ObjectSchema {
  type: 'object';
  properties: Record<string, unknown>;
  required?: string[];
  [keyword: string]: unknown;
}

/** A tool of the Anthropic Messages API. */
export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: ObjectSchema;
  strict?: boolean;
  defer_loading?: boolean;
  input_examples?: Record<string, unknown>[];
  /** Set by the program: the API caches everything up to this tool. */
  cache_control?: { type: 'ephemeral'; ttl?: '5m' | '1h' } | null;
}

/** A tool of OpenAI Chat Completions. */
export interface OpenAiChatTool {
  type: 'function';
  function: { name: string; description?: string; parameters: ObjectSchema; strict?: boolean };
}

/** A function of the OpenAI Responses API. */
export interface OpenAiFunction {
  type: 'function';
  name: string;
  description?: string;
  parameters: ObjectSchema;
  strict: boolean;
  defer_loading?: boolean;
}

/** The functions of one server, in the OpenAI Responses API. */
export interface OpenAiNamespace {
  type: 'namespace';
  name: string;
  description: string;
  tools: OpenAiFunction[];
}

interface GeminiFunction {
  name: string;
  description: string;
  parametersJsonSchema?: ObjectSchema;
  parameters?: GeminiSchema;
}

/** A tool of the Gemini API: all functions together. */
interface GeminiTool {
  functionDeclarations: GeminiFunction[];
}

/** The AI SDK's options of a call. */
interface AiSdkCallOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** A tool of the Vercel AI SDK. */
export interface AiSdkTool {
  type: 'dynamic';
  description?: string;
  title?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK marks its schemas with a symbol that no other code can name.
  inputSchema: any;
  /** Set if a function to call tools was passed. */
  execute?: (input: unknown, options: AiSdkCallOptions) => Promise<CallToolResult>;
  /** What the model sees of a result; images stay images. */
  toModelOutput: (output: unknown) => AiSdkOutput;
}

/** A tool as LangChain's `bindTools` takes it. */
interface LangChainTool {
  name: string;
  description: string;
  schema: ObjectSchema;
}

export interface DefinitionsOf {
  anthropic: AnthropicTool[];
  'openai-chat': OpenAiChatTool[];
  'openai-responses': (OpenAiFunction | OpenAiNamespace)[];
  /** One tool with all functions; none without functions. */
  gemini: GeminiTool[];
  'ai-sdk': Record<string, AiSdkTool>;
  langchain: LangChainTool[];
}

/** Selects tools: all, none, or by a function. */
export type ToolChoice = boolean | ((tool: DescribedTool) => boolean);

/** A call with the tool's own names. */
export interface ReadCall {
  /** `''` for a tool without a server. */
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Why the model's text cannot be read as arguments, which are then empty. */
  readonly invalid?: string | undefined;
}

/** Options of every format. */
interface CommonOptions {
  /** Names to use. Tools that are not in the table are left out. */
  readonly names?: NameTable | undefined;
}

export interface AnthropicOptions extends CommonOptions {
  /** `strict: true` if the schema fits and the request has room. Default false. */
  readonly strict?: ToolChoice | undefined;
  /** `defer_loading: true`: the model finds these with a tool search. Default false. */
  readonly deferLoading?: ToolChoice | undefined;
  /**
   * `input_examples`: up to five, from the tool or its schema. Only examples that certainly match the schema are sent.
   * Default false.
   */
  readonly inputExamples?: ToolChoice | undefined;
}

/** Options for OpenAI Chat Completions. */
interface OpenAiChatOptions extends CommonOptions {
  /** `strict: true` if the schema fits. Default false. */
  readonly strict?: ToolChoice | undefined;
}

export interface OpenAiResponsesOptions extends OpenAiChatOptions {
  /** `defer_loading: true`: the model finds these with a tool search. Default false. */
  readonly deferLoading?: ToolChoice | undefined;
  /** One namespace per server; a function returns its description. Default false. */
  readonly namespaces?: boolean | ((server: string) => string | undefined) | undefined;
}

export interface GeminiOptions extends CommonOptions {
  /** Where the schema goes: as JSON Schema (default), or as the older subset of OpenAPI. */
  readonly parameters?: 'json-schema' | 'open-api' | undefined;
}

/** Options for the Vercel AI SDK. */
export interface AiSdkOptions extends CommonOptions {
  /** Calls the tool. Without it the tools have no `execute`, and the program must answer the calls. */
  readonly execute?: ((call: ReadCall, options: AiSdkCallOptions) => Promise<CallToolResult>) | undefined;
}

export interface OptionsOf {
  anthropic: AnthropicOptions;
  'openai-chat': OpenAiChatOptions;
  'openai-responses': OpenAiResponsesOptions;
  gemini: GeminiOptions;
  'ai-sdk': AiSdkOptions;
  langchain: CommonOptions;
}

/** Something the caller should know about one tool, or about all of them. */
export interface FormatProblem {
  readonly server: string;
  /** `''` if it is about all of them. */
  readonly tool: string;
  /**
   * The tool is missing; it is not `strict`; its schema is simplified; or there are more tools than the API accepts.
   */
  readonly kind: 'left-out' | 'not-strict' | 'simplified' | 'too-many';
  readonly message: string;
}

/** A call of a defined function, by its name there. */
export interface NamedCall {
  readonly name: string;
  /** The namespace, for OpenAI. */
  readonly namespace?: string | undefined;
  /** An object, or its JSON text. */
  readonly arguments?: unknown;
}

/** Definitions, and a function that reads calls of them. */
export interface DefinitionSet<F extends ToolFormat> {
  readonly definitions: DefinitionsOf[F];
  readonly names: NameTable;
  readonly problems: readonly FormatProblem[];
  /** Returns the tool and its arguments, as the tool's own schema expects them; undefined for an unknown name. */
  readCall(call: NamedCall): ReadCall | undefined;
}
