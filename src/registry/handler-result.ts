/**
 * Whatever a handler returned or threw in, the result of a `tools/call` out.
 * @module
 */
import { DiscoveryError, type ErrorInfo } from '../errors.ts';
import { CONTENT_TYPES, fitContent } from '../execution/content.ts';
import type { CallToolResult } from '../types.ts';

const RESULT_KEYS: ReadonlySet<string> = new Set([
  'content',
  'structuredContent',
  'isError',
  '_meta',
  'resultType',
  'inputRequests',
  'requestState',
]);

/** A whole result as it is, a text as text, an object as `structuredContent` and as text, nothing as no content. */
export function toCallToolResult(value: unknown): CallToolResult {
  if (value === undefined || value === null) return { content: [] };
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
  if (isResult(value)) return fitContent(value.content === undefined ? withContent(value) : value, CONTENT_TYPES);
  const content = [{ type: 'text', text: JSON.stringify(value) ?? String(value) }];
  return typeof value === 'object' && !Array.isArray(value) ? { content, structuredContent: value } : { content };
}

/** What a handler threw, in its own words. */
export function toErrorResult(thrown: unknown): CallToolResult {
  if (thrown instanceof DiscoveryError) return toFailureResult(thrown.toInfo());
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    content: [{ type: 'text', text: text === '' ? 'The tool failed and did not say why.' : text }],
    isError: true,
  };
}

/** A failure of ours, in the shape every failure of this package has. */
export const toFailureResult = (error: ErrorInfo): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify({ success: false, error }) }],
  isError: true,
});

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

/** A handler's own data may well have a field called `content`; a result has nothing but the fields of results. */
function isResult(value: unknown): value is CallToolResult {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  const { content } = value as CallToolResult;
  return (
    keys.length > 0 &&
    keys.every((key) => RESULT_KEYS.has(key)) &&
    (content === undefined || (Array.isArray(content) && content.every(isBlock)))
  );
}

const isBlock = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
