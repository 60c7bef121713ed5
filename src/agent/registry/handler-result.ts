/**
 * Whatever a handler returned or threw in, the result of a `tools/call` out.
 * @module
 */
import { DiscoveryError, type ErrorInfo, type Outcome } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { CallToolResult } from '../../core/types.ts';
import { CONTENT_TYPES, fitContent } from '../../execution/content.ts';
import { maskCredentials } from '../../secrets/credential-patterns.ts';
import { messageOf, thrownAs } from '../../text/thrown-message.ts';
import { isResult } from './result-shape.ts';

/**
 * A whole result as it is, a text as text, an object as `structuredContent` and as text, nothing as no content. What is no
 * object as JSON is none here either: a date is a text, a `Set` a list; an error that was returned counts as thrown.
 */
export function toCallToolResult(value: unknown): CallToolResult {
  if (value === undefined || value === null) return { content: [] };
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
  if (isResult(value)) return fitContent(value.content === undefined ? withContent(value) : value, CONTENT_TYPES);
  if (value instanceof Error) return toErrorResult(value);
  if (value instanceof Map) return toCallToolResult(Object.fromEntries(value));
  if (value instanceof Set) return toCallToolResult([...value]);
  if (value instanceof Date) return toCallToolResult(value.toJSON());
  const text = JSON.stringify(value) ?? String(value);
  const content = [{ type: 'text', text }];
  // With a toJSON of its own, an object may be anything.
  return typeof value === 'object' && text.startsWith('{') ? { content, structuredContent: value } : { content };
}

/** The same result with other structured content, and with the text that says the same, if there is one. */
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

/** What a handler threw, in its own words but for credentials. Never throws. */
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

/** What the caller gave up on; in the words of whoever aborted, where those are ours. */
export function toCancelledResult(tool: string, { reason }: AbortSignal, outcome: Outcome): CallToolResult {
  const ours = thrownAs(DiscoveryError, reason);
  if (ours !== undefined) {
    return toErrorResult(new DiscoveryError(ours.code, ours.message, { ...ours.details, tool, outcome }));
  }
  return toErrorResult(new DiscoveryError('CANCELLED', `${tool} was cancelled.`, { tool, outcome }));
}

/** A failure of ours, in the shape every failure of this package has. */
export const toFailureResult = (error: ErrorInfo): CallToolResult => ({
  content: [{ type: 'text', text: failureText(error) }],
  isError: true,
});

function failureText(error: ErrorInfo): string {
  try {
    return JSON.stringify({ success: false, error });
  } catch {
    // Somebody else made it, with details that have no JSON.
    const { code, message, retryable } = error;
    return JSON.stringify({ success: false, error: { code, message, retryable } });
  }
}

/** Older clients insist on content; `input_required` answers have none. */
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
