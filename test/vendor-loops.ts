/**
 * Agent loops as authors write them with the vendors' SDKs, without casts. Nothing calls these: `tsc` reads them, so a type
 * that does not fit fails the check.
 * @module
 */
import type Anthropic from '@anthropic-ai/sdk';
import type * as Gemini from '@google/genai';
import type { AIMessage, BaseMessageLike } from '@langchain/core/messages';
import type { ToolCallPart, ToolModelMessage, ToolSet, TypedToolCall } from 'ai';
import type OpenAI from 'openai';
import type { DiscoveryEngine } from '../src/engine/discovery-engine.ts';
import type { AnyToolCall, UnifiedToolRegistry } from '../src/registry.ts';

declare const registry: UnifiedToolRegistry;

/** Each call as the vendor's response has it, and the answer as its next request takes it. */
export const loops = {
  anthropic: async (reply: Anthropic.Message, engine: DiscoveryEngine): Promise<Anthropic.MessageParam> => {
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    return { role: 'user', content: await Promise.all(calls.map((call) => engine.handle(call))) };
  },
  anthropicBeta: async (reply: Anthropic.Beta.BetaMessage): Promise<Anthropic.Beta.BetaMessageParam> => {
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    return { role: 'user', content: await Promise.all(calls.map((call) => registry.handle(call))) };
  },
  openAiChat: async (reply: OpenAI.ChatCompletion): Promise<OpenAI.ChatCompletionMessageParam[]> => {
    const calls = (reply.choices[0]?.message.tool_calls ?? []).filter((call) => call.type === 'function');
    return Promise.all(calls.map((call) => registry.handle(call)));
  },
  openAiResponses: async (reply: OpenAI.Responses.Response): Promise<OpenAI.Responses.ResponseInputItem[]> => {
    const calls = reply.output.filter((item) => item.type === 'function_call');
    return Promise.all(calls.map((call) => registry.handle(call)));
  },
  gemini: async (reply: Gemini.GenerateContentResponse): Promise<Gemini.Content> => {
    const parts = await Promise.all((reply.functionCalls ?? []).map((call) => registry.handle(call)));
    return { role: 'user', parts };
  },
  geminiParts: async (content: Gemini.Content): Promise<Gemini.Part[]> => {
    const calls = (content.parts ?? []).flatMap(({ functionCall }) => (functionCall ? [{ functionCall }] : []));
    return Promise.all(calls.map((call) => registry.handle(call)));
  },
  aiSdk: async (calls: readonly TypedToolCall<ToolSet>[]): Promise<ToolModelMessage> => ({
    role: 'tool',
    content: await Promise.all(calls.map((call) => registry.handle(call))),
  }),
  aiSdkPart: (call: ToolCallPart): AnyToolCall => call,
  langchain: async (reply: AIMessage): Promise<BaseMessageLike[]> =>
    Promise.all((reply.tool_calls ?? []).map((call) => registry.handle(call))),
};
