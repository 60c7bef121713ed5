/**
 * Converts whatever a handler returned or threw into the result of a `tools/call`.
 * @module
 */
import { DiscoveryError, type ErrorInfo, type Outcome } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolResult } from '../../core/result.ts';
import type { CallToolResult } from '../../core/types.ts';
import { abortFailure } from '../../execution/abort.ts';
import { CONTENT_TYPES, fitContent } from '../../execution/content.ts';
import { plainJson } from '../../json/json-fault.ts';
import { isObject } from '../../json/plain-object.ts';
import { maskCredentials } from '../../secrets/credential-patterns.ts';
import { messageOf, thrownAs } from '../../text/thrown-message.ts';

/**
 * Keeps a whole result, writes a text as text, an object as `structuredContent` and text, and nothing as no content.
 * Values follow their JSON form: a date is a text, a `Set` a list. A returned error counts as thrown.
 */
export function toCallToolResult(value: unknown): CallToolResult {
  if (value === undefined || value === null) return { content: [] };
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
  if (value instanceof Error) return toErrorResult(value);
  // Code that measures, cuts or writes the result would fail, never end, or see something else each time.
  const { value: plain, fault } = plainJson(value, messageOf);
  if (fault !== undefined) return toErrorResult(new Error(`The values that the tool returned ${fault}.`));
  if (value instanceof Map) return toCallToolResult(Object.fromEntries(value));
  if (value instanceof Set) return toCallToolResult([...value]);
  if (value instanceof Date) return toCallToolResult(plain);
  if (isResult(plain)) return fitContent(plain.content === undefined ? withContent(plain) : plain, CONTENT_TYPES);
  const text = JSON.stringify(plain) ?? String(value);
  const content = [{ type: 'text', text }];
  return typeof plain === 'object' && text.startsWith('{') ? { content, structuredContent: plain } : { content };
}

/** Replaces the structured content, and the text if it is a copy of it. */
export function withStructure(result: CallToolResult, structuredContent: unknown): CallToolResult {
  const { content, structuredContent: before } = result;
  if (structuredContent === before) return result;
  const [block, ...others] = content ?? [];
  const isCopy = others.length === 0 && block?.type === 'text' && block.text === JSON.stringify(before);
  return {
    ...result,
    ...(isCopy && { content: [{ ...block, text: JSON.stringify(structuredContent) }] }),
    structuredContent,
  };
}

/** Converts what a handler threw, in its own words but without credentials. Never throws. */
export function toErrorResult(thrown: unknown): CallToolResult {
  const ours = thrownAs(DiscoveryError, thrown);
  if (ours !== undefined) {
    const info = ours.toInfo();
    return toFailureResult({ ...info, message: maskCredentials(info.message) });
  }
  const text = maskCredentials(
    messageOf(thrown, 'The tool failed and did not say why.', 2 * LIMITS.text.error),
    LIMITS.text.error,
  );
  return { content: [{ type: 'text', text }], isError: true };
}

/** The result of a cancelled call, with the reason if it is one of our errors. */
export const toCancelledResult = (tool: string, signal: AbortSignal, outcome: Outcome): CallToolResult =>
  toOwnResult(abortFailure({ server: '', tool, signal }, outcome));

/** Writes what the steps of a call answer for a tool that has no server. */
export function toOwnResult(result: ToolResult<CallToolResult>): CallToolResult {
  if (result.success) return result.data;
  const { server: _, ...error } = result.error;
  return toFailureResult({ ...error, message: maskCredentials(error.message) });
}

/** Writes one of our failures in the common shape. */
const toFailureResult = (error: ErrorInfo): CallToolResult => ({
  content: [{ type: 'text', text: failureText(error) }],
  isError: true,
});

function failureText(error: ErrorInfo): string {
  try {
    return JSON.stringify({ success: false, error });
  } catch {
    // An error from other code, with details that cannot be written as JSON.
    const { code, message, retryable } = error;
    return JSON.stringify({ success: false, error: { code, message, retryable } });
  }
}

/** Older clients require content; `input_required` answers have none. */
const withContent = (result: CallToolResult): CallToolResult =>
  result.resultType === 'input_required'
    ? result
    : {
        content:
          result.structuredContent === undefined
            ? []
            : [{ type: 'text', text: JSON.stringify(result.structuredContent) ?? '' }],
        ...result,
      };

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): boolean => typeof value === 'string';

const isBlock = (value: unknown): boolean =>
  isObject(value) && isText(value.type) && (BLOCKS.get(value.type as string)?.(value) ?? true);

/** Required fields of known block types; clients refuse the whole result without them. */
const BLOCKS: ReadonlyMap<string, (block: Fields) => boolean> = new Map<string, (block: Fields) => boolean>([
  ['text', ({ text }) => isText(text)],
  ['image', ({ data, mimeType }) => isText(data) && isText(mimeType)],
  ['audio', ({ data, mimeType }) => isText(data) && isText(mimeType)],
  ['resource', ({ resource }) => isObject(resource) && isText(resource.uri)],
  ['resource_link', ({ uri, name }) => isText(uri) && isText(name)],
]);

type Kind = (value: unknown) => boolean;
const optional =
  (kind: Kind): Kind =>
  (value) =>
    value === undefined || kind(value);

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['content', optional((value) => Array.isArray(value) && value.every(isBlock))],
  ['structuredContent', () => true],
  ['isError', optional((value) => typeof value === 'boolean')],
  ['_meta', optional(isObject)],
  ['resultType', optional(isText)],
  ['inputRequests', optional(isObject)],
  ['requestState', optional(isText)],
]);

function isResult(value: unknown): value is CallToolResult {
  if (!isObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => KINDS.get(key)?.(value[key]) === true);
}
