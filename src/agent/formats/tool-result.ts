/**
 * Converts a tool's result for an LLM API. Nothing is dropped silently: what an API cannot carry becomes a text that
 * says so.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { CallToolResult } from '../../core/types.ts';
import type { ToolFormat } from './definition-types.ts';
import { type Media, partsOf, type ResultPart } from './result-parts.ts';
import type {
  AiSdkOutput,
  AnthropicDocument,
  AnthropicImage,
  AnthropicToolResult,
  GeminiFunctionResponsePart,
  LangChainToolMessage,
  OpenAiFunctionCallOutput,
  OpenAiOutputPart,
  TextPart,
  ToolResultsOf,
} from './result-types.ts';

/** The answered call, and options. */
interface ResultOptions<F extends ToolFormat> {
  readonly format: F;
  /** The call's id; only Gemini works without it. */
  readonly id?: string | undefined;
  /** The name that was called; required by Gemini, the AI SDK and LangChain. */
  readonly name?: string | undefined;
  /** False if the model reads text only: images and files are then named, not sent. Default true. */
  readonly media?: boolean | undefined;
}

/** The required options of each format. */
export type ResultOptionsOf<F extends ToolFormat> = ResultOptions<F> &
  (F extends 'gemini' ? { readonly name: string } : { readonly id: string }) &
  (F extends 'ai-sdk' | 'langchain' ? { readonly name: string } : unknown);

/**
 * Returns a tool's result in an API's format.
 * @example
 * const { result } = await engine.executeTool(server, tool, args);
 * const block = toToolResult(result, { format: 'anthropic', id: toolUse.id });
 * messages.push({ role: 'user', content: [block] });
 */
export function toToolResult<F extends ToolFormat>(
  result: CallToolResult,
  options: ResultOptionsOf<F>,
): ToolResultsOf[F] {
  const { format } = options;
  const write = Object.hasOwn(WRITERS, format) ? WRITERS[format] : undefined;
  if (!write)
    throw new ValidationError(`There is no format "${String(format)}". Use one of ${Object.keys(WRITERS).join(', ')}.`);
  // A model may call a tool by an empty name. The result tells it that there is no such tool.
  const missing = NEEDED[format].find((key) => typeof options[key] !== 'string' || (key === 'id' && !options.id));
  if (missing !== undefined) throw new ValidationError(`A result for "${format}" needs the call's ${missing}.`);
  return write(result, { id: '', name: '', ...defined(options) }) as ToolResultsOf[F];
}

interface Answer {
  readonly id: string;
  readonly name: string;
  readonly media?: boolean | undefined;
}

const defined = (options: ResultOptions<ToolFormat>): Partial<Answer> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** What each format requires of a call to answer it. */
export const NEEDED: Readonly<Record<ToolFormat, readonly ('id' | 'name')[]>> = {
  anthropic: ['id'],
  'openai-chat': ['id'],
  'openai-responses': ['id'],
  gemini: ['name'],
  'ai-sdk': ['id', 'name'],
  langchain: ['name'],
};

const PICTURES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const PDF = 'application/pdf';
const GEMINI_TYPES = new Set(['image/jpeg', 'image/png', 'image/webp', PDF, 'text/plain']);
const FAILED = 'Error:';

type Writers = { readonly [F in ToolFormat]: (result: CallToolResult, answer: Answer) => ToolResultsOf[F] };

const WRITERS: Writers = {
  anthropic: toAnthropic,
  'openai-chat': (result, { id, media }) => ({
    role: 'tool',
    tool_call_id: id,
    content: joined(marked(result, textsOf(partsOf(result), untaken('OpenAI Chat Completions', media)))),
  }),
  'openai-responses': toOpenAiResponses,
  gemini: toGemini,
  'ai-sdk': (result, { id, name, media }) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: toAiSdkOutput(result, media),
  }),
  langchain: toLangChain,
};

function toAnthropic(result: CallToolResult, { id, media = true }: Answer): AnthropicToolResult {
  const isError = result.isError === true;
  // "all content must be type 'text' if 'is_error' is true"
  const takesMedia = media && !isError;
  const reason = isError && media ? 'Anthropic accepts only text from a failed tool' : untaken('Anthropic', media);
  const content = partsOf(result).map((part): TextPart | AnthropicImage | AnthropicDocument => {
    if (part.kind === 'text') return { type: 'text', text: part.text };
    const { mimeType, data } = part;
    if (takesMedia && PICTURES.has(mimeType))
      return { type: 'image', source: { type: 'base64', media_type: mimeType as 'image/png', data } };
    if (takesMedia && mimeType === PDF)
      return {
        type: 'document',
        source: { type: 'base64', media_type: PDF, data },
        ...(part.name !== undefined && { title: part.name }),
      };
    return { type: 'text', text: leftOut(part, reason) };
  });
  return {
    type: 'tool_result',
    tool_use_id: id,
    // Anthropic refuses blank text.
    content: content.filter((part) => part.type !== 'text' || part.text.trim() !== ''),
    ...(isError && { is_error: true }),
  };
}

function toOpenAiResponses(result: CallToolResult, { id, media = true }: Answer): OpenAiFunctionCallOutput {
  const parts = partsOf(result).map((part): OpenAiOutputPart => {
    if (part.kind === 'text') return { type: 'input_text', text: part.text };
    const url = `data:${part.mimeType};base64,${part.data}`;
    if (media && PICTURES.has(part.mimeType)) return { type: 'input_image', image_url: url, detail: 'auto' };
    if (media && part.mimeType === PDF)
      return { type: 'input_file', filename: fileName(part, 'file.pdf'), file_data: url };
    return { type: 'input_text', text: leftOut(part, untaken('OpenAI', media)) };
  });
  const texts = parts.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
  if (texts.length === parts.length)
    return { type: 'function_call_output', call_id: id, output: joined(marked(result, texts)) };
  const output: OpenAiOutputPart[] = result.isError === true ? [{ type: 'input_text', text: FAILED }, ...parts] : parts;
  return { type: 'function_call_output', call_id: id, output };
}

function toGemini(result: CallToolResult, { id, name, media = true }: Answer): GeminiFunctionResponsePart {
  const all = partsOf(result);
  const carried = (part: ResultPart): part is Media =>
    part.kind === 'media' && media && GEMINI_TYPES.has(part.mimeType);
  const value = joined(
    textsOf(
      all.filter((part) => !carried(part)),
      untaken('Gemini', media),
    ),
  );
  const parts = all.filter(carried).map(({ mimeType, data }) => ({ inlineData: { mimeType, data } }));
  return {
    functionResponse: {
      ...(id !== '' && { id }),
      name,
      response: result.isError === true ? { error: value } : { output: value },
      ...(parts.length > 0 && { parts }),
    },
  };
}

/** Returns what the AI SDK sends to a model for a result; for `toModelOutput` of the program's own tools. */
export function toAiSdkOutput(result: CallToolResult, media = true): AiSdkOutput {
  const parts = partsOf(result);
  const isError = result.isError === true;
  if (!media || parts.every((part) => part.kind === 'text')) {
    const value = joined(textsOf(parts, untaken('the model', media)));
    return isError ? { type: 'error-text', value } : { type: 'text', value };
  }
  const value = parts.map((part) => {
    if (part.kind === 'text') return { type: 'text' as const, text: part.text };
    const { data, mimeType: mediaType, name } = part;
    if (mediaType.startsWith('image/')) return { type: 'image-data' as const, data, mediaType };
    return { type: 'file-data' as const, data, mediaType, ...(name !== undefined && { filename: name }) };
  });
  return { type: 'content', value: isError ? [{ type: 'text', text: FAILED }, ...value] : value };
}

function toLangChain(result: CallToolResult, { id, name, media = true }: Answer): LangChainToolMessage {
  const parts = partsOf(result).map((part) => {
    if (part.kind === 'text') return { type: 'text' as const, text: part.text };
    const { mimeType, data } = part;
    if (media && mimeType.startsWith('image/'))
      return { type: 'image_url' as const, image_url: { url: `data:${mimeType};base64,${data}` } };
    return { type: 'text' as const, text: leftOut(part, untaken('LangChain', media)) };
  });
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const content = texts.length === parts.length ? joined(texts) : parts;
  return { role: 'tool', tool_call_id: id, name, content, status: result.isError === true ? 'error' : 'success' };
}

const textsOf = (parts: readonly ResultPart[], reason: string): string[] =>
  parts.map((part) => (part.kind === 'text' ? part.text : leftOut(part, reason)));

/** Marks a failure in the text, for APIs without such a mark. */
const marked = (result: CallToolResult, texts: readonly string[]): readonly string[] =>
  result.isError === true ? [FAILED, ...texts] : texts;

const joined = (texts: readonly string[]): string => texts.join('\n');

/** Says why media are not sent: the API has no place for them, or the model reads text only. */
const untaken = (api: string, media = true): string =>
  media ? `${api} does not accept this kind of content in a tool result` : 'only text is sent to this model';

function leftOut({ mimeType, data, name }: Media, reason: string): string {
  const bytes = Math.floor((data.length * 3) / 4).toLocaleString('en-US');
  const what = name === undefined ? mimeType : `${name} (${mimeType})`;
  return `[${what}, ${bytes} bytes, is left out: ${reason}]`;
}

const fileName = ({ name }: Media, fallback: string): string => name?.split('/').at(-1)?.slice(0, 200) || fallback;
