/** What the SDKs of the vendors take and give, without casts: `tsc` reads this file, so a type that does not fit fails. */
import type Anthropic from '@anthropic-ai/sdk';
import type * as Gemini from '@google/genai';
import type { BindToolsInput } from '@langchain/core/language_models/chat_models';
import type { BaseMessageLike } from '@langchain/core/messages';
import type { ToolModelMessage, ToolSet } from 'ai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import {
  anthropicToolSearch,
  openAiToolSearch,
  toDefinitions,
  toToolReferences,
  toToolResult,
  UnifiedToolRegistry,
} from '../src/registry.ts';

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
