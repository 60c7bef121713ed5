/**
 * The shapes in which LLM APIs take definitions of tools, one type each, as their own SDKs declare them.
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

/** A tool to be defined: what the engine lists, or what a server does together with its name. */
export interface DescribedTool extends NamedTool {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments, as it came. */
  readonly inputSchema?: unknown;
  /** Calls that somebody wrote down; those that were made up are not sent. */
  readonly examples?: readonly ToolExample[] | undefined;
}

/** A JSON Schema with an object at its top. */
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
  /** Yours to set: what comes before it is cached. */
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

/** Functions of one server, in the OpenAI Responses API. */
export interface OpenAiNamespace {
  type: 'namespace';
  name: string;
  description: string;
  tools: OpenAiFunction[];
}

/** A function of the Gemini API. */
export interface GeminiFunction {
  name: string;
  description: string;
  parametersJsonSchema?: ObjectSchema;
  parameters?: GeminiSchema;
}

/** A tool of the Gemini API: functions, all together. */
export interface GeminiTool {
  functionDeclarations: GeminiFunction[];
}

/** What the AI SDK tells a tool about a call. */
export interface AiSdkCallOptions {
  readonly toolCallId: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** A tool of the Vercel AI SDK. */
export interface AiSdkTool {
  type: 'dynamic';
  description?: string;
  title?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the SDK marks its schemas with a symbol that nobody else can name.
  inputSchema: any;
  /** There when a way to call tools was handed in. */
  execute?: (input: unknown, options: AiSdkCallOptions) => Promise<CallToolResult>;
  /** What the model sees of a result, pictures as pictures. */
  toModelOutput: (output: unknown) => AiSdkOutput;
}

/** A tool as LangChain's `bindTools` takes it. */
export interface LangChainTool {
  name: string;
  description: string;
  schema: ObjectSchema;
}

/** The definitions in each format. */
export interface DefinitionsOf {
  anthropic: AnthropicTool[];
  'openai-chat': OpenAiChatTool[];
  'openai-responses': (OpenAiFunction | OpenAiNamespace)[];
  /** One tool with all functions; none when there are no functions. */
  gemini: GeminiTool[];
  'ai-sdk': Record<string, AiSdkTool>;
  langchain: LangChainTool[];
}

/** Which tools; all, none, or those that are chosen. */
export type ToolChoice = boolean | ((tool: DescribedTool) => boolean);

/** A call in the tool's own words. */
export interface ReadCall {
  /** `''` for a tool without a server. */
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Why what the model wrote cannot be read as arguments, which are then empty. */
  readonly invalid?: string | undefined;
}

/** What every format can be told. */
export interface CommonOptions {
  /** Names to use. Tools the table does not know are left out. */
  readonly names?: NameTable | undefined;
}

/** Anthropic. */
export interface AnthropicOptions extends CommonOptions {
  /** `strict: true` where the schema fits and the request has room. Default false. */
  readonly strict?: ToolChoice | undefined;
  /** `defer_loading: true`: the model finds these with a tool search. Default false. */
  readonly deferLoading?: ToolChoice | undefined;
  /**
   * `input_examples`: up to five that came with the tool or stand in its schema. Only those that fit the schema for certain
   * are sent. Default false.
   */
  readonly inputExamples?: ToolChoice | undefined;
}

/** OpenAI Chat Completions. */
export interface OpenAiChatOptions extends CommonOptions {
  /** `strict: true` where the schema fits. Default false. */
  readonly strict?: ToolChoice | undefined;
}

/** OpenAI Responses. */
export interface OpenAiResponsesOptions extends OpenAiChatOptions {
  /** `defer_loading: true`: the model finds these with a tool search. Default false. */
  readonly deferLoading?: ToolChoice | undefined;
  /** One namespace for each server; a function says how it is described. Default false. */
  readonly namespaces?: boolean | ((server: string) => string | undefined) | undefined;
}

/** Gemini. */
export interface GeminiOptions extends CommonOptions {
  /** Where the schema goes: as JSON Schema (default), or as the older subset of OpenAPI. */
  readonly parameters?: 'json-schema' | 'open-api' | undefined;
}

/** Vercel AI SDK. */
export interface AiSdkOptions extends CommonOptions {
  /** Calls the tool. Without it the tools have no `execute`, and the calls are yours to answer. */
  readonly execute?: ((call: ReadCall, options: AiSdkCallOptions) => Promise<CallToolResult>) | undefined;
}

/** The options of each format. */
export interface OptionsOf {
  anthropic: AnthropicOptions;
  'openai-chat': OpenAiChatOptions;
  'openai-responses': OpenAiResponsesOptions;
  gemini: GeminiOptions;
  'ai-sdk': AiSdkOptions;
  langchain: CommonOptions;
}

/** Something about one tool, or about all of them together, that the caller should know. */
export interface FormatProblem {
  readonly server: string;
  /** `''` where it is about all of them. */
  readonly tool: string;
  /** The tool is not there; it is there without `strict`; its schema says less than it did; or there are more than the API takes. */
  readonly kind: 'left-out' | 'not-strict' | 'simplified' | 'too-many';
  readonly message: string;
}

/** A call of one of the defined functions, by the name it has there. */
export interface NamedCall {
  readonly name: string;
  /** Where OpenAI says which namespace. */
  readonly namespace?: string | undefined;
  /** An object, or the JSON text of one. */
  readonly arguments?: unknown;
}

/** Definitions, and the way back from a call of one of them. */
export interface DefinitionSet<F extends ToolFormat> {
  readonly definitions: DefinitionsOf[F];
  readonly names: NameTable;
  readonly problems: readonly FormatProblem[];
  /** The tool that is meant and its arguments, as the tool's own schema wants them; undefined for a name that is not here. */
  readCall(call: NamedCall): ReadCall | undefined;
}
