/**
 * What a registry gives for a call: a result whose content is of the kinds that every client knows, so that a handler of
 * the MCP SDK, version 1 or 2, may return it as it is.
 * @module
 */
import type { CallToolResult } from '../../core/types.ts';

/** Text, in a result. */
export type TextContent = Readonly<{ type: 'text'; text: string }>;

/** An image, in a result: `data` is base64. */
export type ImageContent = Readonly<{ type: 'image'; data: string; mimeType: string }>;

/** Sound, in a result: `data` is base64. */
export type AudioContent = Readonly<{ type: 'audio'; data: string; mimeType: string }>;

/** A resource that can be read elsewhere. */
export type ResourceLink = Readonly<{
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}>;

/** A resource that came along: as text, or as base64 in `blob`. */
export type EmbeddedResource = Readonly<{
  type: 'resource';
  resource: Readonly<
    { uri: string; mimeType?: string; text: string } | { uri: string; mimeType?: string; blob: string }
  >;
}>;

/** One part of a result, told apart by its `type`. */
export type KnownContent = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** What a tool returned, in the shape that clients take. Whatever else there is in it is handed on. */
export interface ToolCallResult extends CallToolResult {
  readonly content: KnownContent[];
  readonly structuredContent?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs name some of its keys, and each another type for them
  readonly _meta?: Record<string, any>;
}

/** Content of other kinds has become text by now; only a question to the user comes without any. */
export const toToolCallResult = (result: CallToolResult): ToolCallResult =>
  (result.content === undefined ? { ...result, content: [] } : result) as ToolCallResult;
