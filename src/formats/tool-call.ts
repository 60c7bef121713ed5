/**
 * A call as any of the APIs writes it in; whose shape it is, its id, name and arguments out.
 * @module
 */
import { ValidationError } from '../errors.ts';
import { parseNested } from '../json-nesting.ts';
import type { NamedCall, ToolFormat } from './definition-types.ts';

/** Anthropic: a `tool_use` block. */
export interface AnthropicToolUse {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** OpenAI Chat Completions: an item of `tool_calls`. */
export interface OpenAiToolCall {
  readonly type: 'function';
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** OpenAI Responses: a `function_call` item. */
export interface OpenAiFunctionCall {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly namespace?: string | undefined;
}

/** Gemini: an item of `functionCalls`. */
export interface GeminiFunctionCall {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  readonly type?: undefined;
}

/** Gemini: a part of the model's content. */
export interface GeminiFunctionCallPart {
  readonly functionCall: GeminiFunctionCall;
}

/** Vercel AI SDK: a tool call. */
export interface AiSdkToolCall {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** LangChain: an item of `tool_calls`. Its chat models write the type; without it, a call looks like one of Gemini. */
export interface LangChainToolCall {
  readonly type: 'tool_call';
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A call in any of the shapes. */
export type AnyToolCall =
  | AnthropicToolUse
  | OpenAiToolCall
  | OpenAiFunctionCall
  | GeminiFunctionCallPart
  | GeminiFunctionCall
  | AiSdkToolCall
  | LangChainToolCall;

/** What a call says it is; never for those of Gemini, which say nothing. */
type TypeOf<C> = 'type' extends keyof C ? NonNullable<C['type' & keyof C]> : never;

interface FormatByType {
  readonly tool_use: 'anthropic';
  readonly function: 'openai-chat';
  readonly function_call: 'openai-responses';
  readonly 'tool-call': 'ai-sdk';
  readonly tool_call: 'langchain';
}

/** The format a call is written in. */
export type FormatOf<C extends AnyToolCall> = C extends unknown
  ? [TypeOf<C>] extends [never]
    ? 'gemini'
    : FormatByType[TypeOf<C> & keyof FormatByType]
  : never;

/** A call, whoever wrote it. */
export interface ToolCallParts extends NamedCall {
  readonly format: ToolFormat;
  readonly id: string | undefined;
}

/** Reads a call; throws `ValidationError` for what is none, because only a program can pass that. */
export function readToolCall(call: AnyToolCall): ToolCallParts {
  const parts = partsOf(call);
  if (!parts || typeof parts.name !== 'string')
    throw new ValidationError(
      'This is no tool call of Anthropic, OpenAI, Gemini, the AI SDK or LangChain: it has no name.',
    );
  return parts;
}

function partsOf(call: AnyToolCall): ToolCallParts | undefined {
  if (typeof call !== 'object' || call === null) return undefined;
  if ('functionCall' in call) return gemini(call.functionCall);
  switch (call.type) {
    case 'tool_use':
      return { format: 'anthropic', id: call.id, name: call.name, arguments: call.input };
    case 'function_call': {
      const { call_id: id, name, namespace } = call;
      return { format: 'openai-responses', id, name, namespace, arguments: call.arguments };
    }
    case 'function':
      return { format: 'openai-chat', id: call.id, name: call.function?.name, arguments: call.function?.arguments };
    case 'tool-call':
      return { format: 'ai-sdk', id: call.toolCallId, name: call.toolName, arguments: call.input };
    case 'tool_call':
      return { format: 'langchain', id: call.id, name: call.name, arguments: call.args };
    default:
      return gemini(call);
  }
}

const gemini = (call: GeminiFunctionCall | undefined): ToolCallParts | undefined =>
  call?.name === undefined ? undefined : { format: 'gemini', id: call.id, name: call.name, arguments: call.args };

/** Arguments as an object; undefined when they are none. */
export function argumentsOf(raw: unknown): Readonly<Record<string, unknown>> | undefined {
  if (raw === undefined || raw === null || raw === '') return {};
  if (typeof raw === 'string') {
    try {
      return objectIn(parseNested(raw));
    } catch {
      return undefined;
    }
  }
  return objectIn(raw);
}

const objectIn = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
