/**
 * Exports tools for LLM APIs: definitions with legal names and schemas, parsed calls, and results in each API's format.
 * @module
 */
export {
  type AiSdkCallOptions,
  type AiSdkOptions,
  type AiSdkTool,
  type AnthropicOptions,
  type AnthropicTool,
  type CommonOptions,
  type DefinitionSet,
  type DefinitionsOf,
  type DescribedTool,
  type FormatProblem,
  type GeminiFunction,
  type GeminiOptions,
  type GeminiTool,
  type LangChainTool,
  type NamedCall,
  type ObjectSchema,
  type OpenAiChatOptions,
  type OpenAiChatTool,
  type OpenAiFunction,
  type OpenAiNamespace,
  type OpenAiResponsesOptions,
  type OptionsOf,
  type ReadCall,
  TOOL_FORMATS,
  type ToolChoice,
  type ToolFormat,
} from './definition-types.ts';
export {
  type AnthropicToolReference,
  type AnthropicToolSearch,
  anthropicToolSearch,
  type OpenAiToolSearch,
  openAiToolSearch,
  toToolReferences,
} from './hosted-search.ts';
export { COMMON_NAME_RULE, createNameTable, type NamedTool, type NameRule, type NameTable } from './names.ts';
export type { GeminiSchema } from './open-api-schema.ts';
export type * from './result-types.ts';
export { toDefinitions } from './to-definitions.ts';
export {
  type AiSdkToolCall,
  type AnthropicToolUse,
  type AnyToolCall,
  argumentsOf,
  type FormatOf,
  type GeminiFunctionCall,
  type GeminiFunctionCallPart,
  type LangChainToolCall,
  type OpenAiFunctionCall,
  type OpenAiToolCall,
  readToolCall,
  type ToolCallOptions,
  type ToolCallParts,
} from './tool-call.ts';
export { type ResultOptions, type ResultOptionsOf, toAiSdkOutput, toToolResult } from './tool-result.ts';
