/**
 * Declares the result of a registry's call. Its content has only kinds that every client knows, so that a handler of
 * the MCP SDK, version 1 or 2, can return it unchanged.
 * @module
 */
import type { CallToolResult } from '../../core/types.ts';

type TextContent = Readonly<{ type: 'text'; text: string }>;

/** An image in a result; `data` is base64. */
type ImageContent = Readonly<{ type: 'image'; data: string; mimeType: string }>;

/** Sound in a result; `data` is base64. */
type AudioContent = Readonly<{ type: 'audio'; data: string; mimeType: string }>;

type ResourceLink = Readonly<{
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}>;

/** An embedded resource: as text, or as base64 in `blob`. */
type EmbeddedResource = Readonly<{
  type: 'resource';
  resource: Readonly<
    { uri: string; mimeType?: string; text: string } | { uri: string; mimeType?: string; blob: string }
  >;
}>;

/** One part of a result, told apart by its `type`. */
type KnownContent = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** The result of a tool. Other fields are passed on. */
export interface ToolCallResult extends CallToolResult {
  readonly content: KnownContent[];
  readonly structuredContent?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs name some of its keys, and each another type for them
  readonly _meta?: Record<string, any>;
}

/** Other kinds of content have already become text. Only a question to the user has no content. */
export const toToolCallResult = (result: CallToolResult): ToolCallResult =>
  (result.content === undefined ? { ...result, content: [] } : result) as ToolCallResult;
