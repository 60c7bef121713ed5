/**
 * Defines the formats of tool results for LLM APIs, one type each.
 * @module
 */

import type { AnthropicToolReference } from './hosted-search.ts';

// Types, not interfaces, for LangChain: it requires records, and an interface is not assignable to one.

/** Text, in the format that Anthropic, OpenAI Chat and LangChain share. */
export type TextPart = {
  type: 'text';
  text: string;
};

export interface AnthropicImage {
  type: 'image';
  source: { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string };
}

/** A PDF for Anthropic. */
export interface AnthropicDocument {
  type: 'document';
  source: { type: 'base64'; media_type: 'application/pdf'; data: string };
  title?: string;
}

/**
 * Anthropic: a block for the next user message. References, from `toToolReferences`, answer the program's own search
 * tool.
 */
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: (TextPart | AnthropicImage | AnthropicDocument | AnthropicToolReference)[];
  is_error?: boolean;
}

/** OpenAI Chat Completions: a message. It can contain text only. */
interface OpenAiToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

/** A part of an OpenAI Responses output. */
export type OpenAiOutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

/** OpenAI Responses: an input item. */
export interface OpenAiFunctionCallOutput {
  type: 'function_call_output';
  call_id: string;
  output: string | OpenAiOutputPart[];
}

/** Gemini: a part of the next user content. */
export interface GeminiFunctionResponsePart {
  functionResponse: {
    id?: string;
    name: string;
    /** `output`, or `error` when the tool failed. */
    response: Record<string, unknown>;
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** What the AI SDK sends to a model. */
export type AiSdkOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | {
      type: 'content';
      value: (
        | TextPart
        | { type: 'image-data'; data: string; mediaType: string }
        | { type: 'file-data'; data: string; mediaType: string; filename?: string }
      )[];
    };

/** Vercel AI SDK: a part of the next tool message. */
interface AiSdkToolResult {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: AiSdkOutput;
}

/** LangChain: a message that becomes a `ToolMessage`. */
export type LangChainToolMessage = {
  role: 'tool';
  tool_call_id: string;
  name: string;
  content: string | (TextPart | { type: 'image_url'; image_url: { url: string } })[];
  status: 'success' | 'error';
};

export interface ToolResultsOf {
  anthropic: AnthropicToolResult;
  'openai-chat': OpenAiToolMessage;
  'openai-responses': OpenAiFunctionCallOutput;
  gemini: GeminiFunctionResponsePart;
  'ai-sdk': AiSdkToolResult;
  langchain: LangChainToolMessage;
}
