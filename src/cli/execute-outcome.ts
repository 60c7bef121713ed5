/**
 * Turns the result of a call into `{success, result}` or `{success: false, error}`.
 * @module
 */
import type { ErrorInfo } from '../core/errors.ts';
import { fail, type ToolResult } from '../core/result.ts';
import type { CallToolResult, ContentBlock, ToolRef } from '../core/types.ts';

/** The document of `execute --json`. */
export type Outcome =
  | { readonly success: true; readonly result: unknown }
  | { readonly success: false; readonly error: ErrorInfo };

/** The result is the structured content, else a single text parsed as JSON, else that text, else all blocks. `isError` is a failure. */
export function outcomeOf(called: ToolResult<CallToolResult>, { server, tool }: ToolRef): Outcome {
  if (!called.success) return called;
  const { isError, structuredContent, content = [] } = called.data;
  if (isError) {
    const message = content.flatMap((block) => textOf(block) ?? []).join('\n');
    const details = { server, tool, outcome: 'failed' } as const;
    return fail('TOOL_EXECUTION_ERROR', message || 'The tool failed without a message.', details) as Outcome;
  }
  if (structuredContent !== undefined) return { success: true, result: structuredContent };
  const [only] = content;
  const text = content.length === 1 && only ? textOf(only) : undefined;
  return { success: true, result: text === undefined ? content : parsedOr(text) };
}

export const textOf = (block: ContentBlock): string | undefined =>
  block.type === 'text' && typeof block.text === 'string' ? block.text : undefined;

/** The text parsed as JSON, or the text itself. */
export function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
