/** What the SDKs of the vendors take and give, without casts: `tsc` reads this file, so a type that does not fit fails. */
import type Anthropic from '@anthropic-ai/sdk';
import type * as Gemini from '@google/genai';
import type { BindToolsInput } from '@langchain/core/language_models/chat_models';
import type { AIMessage, BaseMessageLike } from '@langchain/core/messages';
import type { ToolCallPart, ToolModelMessage, ToolSet, TypedToolCall } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import {
  type AnyToolCall,
  anthropicToolSearch,
  type MetaToolHandler,
  openAiToolSearch,
  toDefinitions,
  toToolReferences,
  toToolResult,
} from '../src/formats/index.ts';
import { UnifiedToolRegistry } from '../src/unified/index.ts';

const tools = [{ server: 's', name: 't', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }];
const result = { content: [{ type: 'text', text: 'done' }] };
const registry = new UnifiedToolRegistry();

describe('definitions fit what the SDK takes', () => {
  it('Anthropic', () => {
    const { definitions } = toDefinitions(tools, { format: 'anthropic', strict: true, deferLoading: true });
    const plain: Anthropic.Tool[] = definitions;
    const request: Pick<Anthropic.MessageCreateParams, 'tools'> = { tools: definitions };
    const searched: Anthropic.ToolUnion[] = [anthropicToolSearch(), anthropicToolSearch('regex'), ...definitions];
    const beta: Anthropic.Beta.BetaToolUnion[] = [anthropicToolSearch(), ...definitions];
    const own: Anthropic.ToolUnion[] = registry.getToolDefinitions();
    expect([plain.length, request.tools?.length, searched.length, beta.length, own.length]).toEqual([1, 1, 3, 2, 0]);
  });

  it('OpenAI', () => {
    const chat: OpenAI.Chat.Completions.ChatCompletionTool[] = toDefinitions(tools, {
      format: 'openai-chat',
    }).definitions;
    const functions: OpenAI.Chat.Completions.ChatCompletionFunctionTool[] = registry.getToolDefinitions({
      format: 'openai-chat',
    });
    const set = toDefinitions(tools, { format: 'openai-responses', namespaces: true, deferLoading: true }).definitions;
    const responses: OpenAI.Responses.Tool[] = [openAiToolSearch(), ...set];
    const request: Pick<OpenAI.Responses.ResponseCreateParams, 'tools'> = { tools: set };
    expect([chat.length, functions.length, responses.length, request.tools?.length]).toEqual([1, 0, 2, 1]);
  });

  it('Gemini', () => {
    const all: Gemini.Tool[] = toDefinitions(tools, { format: 'gemini' }).definitions;
    const older: Gemini.Tool[] = toDefinitions(tools, { format: 'gemini', parameters: 'open-api' }).definitions;
    const config: Gemini.GenerateContentConfig = { tools: all };
    expect([all.length, older.length, config.tools?.length]).toEqual([1, 1, 1]);
  });

  it('the AI SDK', () => {
    const set: ToolSet = toDefinitions(tools, { format: 'ai-sdk', execute: async () => result }).definitions;
    const own: ToolSet = registry.getToolDefinitions({ format: 'ai-sdk' });
    expect([Object.keys(set), Object.keys(own)]).toEqual([['s__t'], []]);
  });

  it('LangChain', () => {
    const bound: BindToolsInput[] = toDefinitions(tools, { format: 'langchain' }).definitions;
    expect(bound).toHaveLength(1);
  });
});

describe('results fit what the SDK takes', () => {
  it('Anthropic', () => {
    const block: Anthropic.ToolResultBlockParam = toToolResult(result, { format: 'anthropic', id: '1' });
    const beta: Anthropic.Beta.BetaToolResultBlockParam = toToolResult(result, { format: 'anthropic', id: '1' });
    const message: Anthropic.MessageParam = { role: 'user', content: [block] };
    const found: Anthropic.ToolResultBlockParam = {
      type: 'tool_result',
      tool_use_id: '1',
      content: toToolReferences([{ server: 's', tool: 't' }], toDefinitions(tools, { format: 'anthropic' })),
    };
    expect([beta.type, message.role, found.content]).toEqual([
      'tool_result',
      'user',
      [{ type: 'tool_reference', tool_name: 's__t' }],
    ]);
  });

  it('OpenAI', () => {
    const chat: OpenAI.Chat.Completions.ChatCompletionMessageParam = toToolResult(result, {
      format: 'openai-chat',
      id: '1',
    });
    const item: OpenAI.Responses.ResponseInputItem = toToolResult(result, { format: 'openai-responses', id: '1' });
    expect([chat.role, item.type]).toEqual(['tool', 'function_call_output']);
  });

  it('Gemini', () => {
    const part: Gemini.Part = toToolResult(result, { format: 'gemini', name: 't' });
    const content: Gemini.Content = { role: 'user', parts: [part] };
    expect(content.parts).toHaveLength(1);
  });

  it('the AI SDK', () => {
    const message: ToolModelMessage = {
      role: 'tool',
      content: [toToolResult(result, { format: 'ai-sdk', id: '1', name: 't' })],
    };
    expect(message.content).toHaveLength(1);
  });

  it('LangChain', () => {
    const message: BaseMessageLike = toToolResult(result, { format: 'langchain', id: '1', name: 't' });
    expect(message).toMatchObject({ role: 'tool' });
  });
});

/** Compiled, not called: each call as the vendor's response has it, and the answer as its next request takes it. */
export const loops = {
  anthropic: async (reply: Anthropic.Message, handler: MetaToolHandler): Promise<Anthropic.MessageParam> => {
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    const content = await Promise.all(
      calls.map((call) => (handler.handles(call) ? handler.handle(call) : registry.handle(call))),
    );
    return { role: 'user', content };
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
