/**
 * Reads a call in any of the APIs' formats: the format, id, name and arguments.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { NestingError, parseNested } from '../../json/json-nesting.ts';
import { isObject } from '../../json/plain-object.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { type NamedCall, TOOL_FORMATS, type ToolFormat } from './definition-types.ts';
import { NEEDED } from './tool-result.ts';

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
interface AiSdkToolCall {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/**
 * LangChain: an item of `tool_calls`. Its chat models set the type. Without it a call looks like one of Gemini; pass
 * `format` then.
 */
export interface LangChainToolCall {
  readonly type?: 'tool_call' | undefined;
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A call in any of the formats. */
export type AnyToolCall =
  | AnthropicToolUse
  | OpenAiToolCall
  | OpenAiFunctionCall
  | GeminiFunctionCallPart
  | GeminiFunctionCall
  | AiSdkToolCall
  | LangChainToolCall;

/** The type of a call; never for Gemini's, which have none. */
type TypeOf<C> = 'type' extends keyof C ? NonNullable<C['type' & keyof C]> : never;

interface FormatByType {
  readonly tool_use: 'anthropic';
  readonly function: 'openai-chat';
  readonly function_call: 'openai-responses';
  readonly 'tool-call': 'ai-sdk';
  readonly tool_call: 'langchain';
}

export type FormatOf<C extends AnyToolCall> = C extends unknown
  ? [TypeOf<C>] extends [never]
    ? 'gemini'
    : FormatByType[TypeOf<C> & keyof FormatByType]
  : never;

/** A call, independent of its format. */
interface ToolCallParts extends NamedCall {
  readonly format: ToolFormat;
  readonly id: string | undefined;
}

export interface ToolCallOptions<F extends ToolFormat = ToolFormat> {
  /** The format, if the call does not show it: a LangChain call without its `type` looks like one of Gemini. */
  readonly format?: F | undefined;
}

/** Reads a call. Throws `ValidationError` for anything else, because only a program can pass that. */
export function readToolCall(call: AnyToolCall, { format }: ToolCallOptions = {}): ToolCallParts {
  if (format !== undefined && !TOOL_FORMATS.includes(format))
    throw new ValidationError(`There is no format "${String(format)}". Use one of ${TOOL_FORMATS.join(', ')}.`);
  if (typeof call !== 'object' || call === null) throw noCall('it is not an object');
  const own = formatOf(call, format);
  const parts = READERS[own](call as never);
  if (typeof parts.name !== 'string') throw noCall('it has no name');
  if (NEEDED[own].includes('id') && (typeof parts.id !== 'string' || parts.id === ''))
    throw noCall('it has no id, so its result could not be matched to it');
  return parts;
}

/**
 * Returns the named format if the call may be of it, else the first one with the call's type, else Gemini's. Formats may
 * share a type. An item with an unknown type is not a call.
 */
function formatOf(call: AnyToolCall, said: ToolFormat | undefined): ToolFormat {
  const isPart = 'functionCall' in call;
  const type = isPart ? undefined : (call.type ?? undefined);
  if (said !== undefined && (TYPES[said] === type || (type === undefined && !isPart))) return said;
  const own = TOOL_FORMATS.find((format) => TYPES[format] === type);
  if (own === undefined)
    throw noCall(
      `its type is "${String(type).slice(0, 64)}". Calls have the type ${Object.values(TYPES).filter(Boolean).join(', ')}, or none`,
    );
  if (said !== undefined) throw noCall(`its format is "${own}", not "${said}"`);
  return own;
}

const noCall = (why: string): ValidationError =>
  new ValidationError(`This is not a tool call of Anthropic, OpenAI, Gemini, the AI SDK or LangChain: ${why}.`);

type Readers = { readonly [F in ToolFormat]: (call: Extract<AnyToolCall, { type?: TypeIn[F] }>) => ToolCallParts };
type TypeIn = { [T in keyof FormatByType as FormatByType[T]]: T } & { gemini: undefined };

/** The type of each format's calls. */
const TYPES: { readonly [F in ToolFormat]: TypeIn[F] } = {
  anthropic: 'tool_use',
  'openai-chat': 'function',
  'openai-responses': 'function_call',
  gemini: undefined,
  'ai-sdk': 'tool-call',
  langchain: 'tool_call',
};

const READERS: Readers = {
  anthropic: ({ id, name, input }) => ({ format: 'anthropic', id, name, arguments: input }),
  'openai-chat': ({ id, function: one }) => ({
    format: 'openai-chat',
    id,
    name: one?.name,
    arguments: one?.arguments,
  }),
  'openai-responses': ({ call_id: id, name, namespace, arguments: args }) => ({
    format: 'openai-responses',
    id,
    name,
    namespace,
    arguments: args,
  }),
  gemini: (call: GeminiFunctionCall | GeminiFunctionCallPart) => {
    const { id, name, args } = ('functionCall' in call ? call.functionCall : call) ?? {};
    return { format: 'gemini', id, name: name as string, arguments: args };
  },
  'ai-sdk': ({ toolCallId: id, toolName: name, input }) => ({ format: 'ai-sdk', id, name, arguments: input }),
  langchain: ({ id, name, args }) => ({ format: 'langchain', id, name, arguments: args }),
};

/** Returns arguments as an object; undefined if they are not one. */
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

/** Says why arguments cannot be read. The text continues "The arguments …". */
export const argumentsProblem = (raw: unknown): string => jsonProblem(raw) ?? 'must be a JSON object';

/** Says why a text is not valid JSON; undefined for anything but text, and for empty text. */
export function jsonProblem(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || raw === '') return undefined;
  try {
    parseNested(raw);
    return undefined;
  } catch (error) {
    if (error instanceof NestingError) return 'are nested too deep';
    const reason = messageOf(error).slice(0, LIMITS.text.reason);
    const isCut = reason.includes('end of JSON input') || Number(/at position (\d+)/.exec(reason)?.[1]) >= raw.length;
    return `are not valid JSON: ${reason}${isCut ? '. They end too early, probably because the model reached its token limit' : ''}`;
  }
}

const objectIn = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  isObject(value) ? value : undefined;
