/**
 * `@anygpt/discovery/registry`: for those who write a server or an agent loop. A registry of one's own tools behind a
 * search, one registry over own tools and MCP servers, and tools in the words of every LLM API. Loads no transports.
 * @module
 */
export type { ErrorDetails, ErrorInfo, Outcome } from './errors.ts';
export * from './formats/index.ts';
export * from './registry/index.ts';
export type { ToolResult } from './result.ts';
export type { Caller, Logger, ServerRequest, ToolExample, ToolMetadata, ToolParameter, ToolRef } from './types.ts';
export * from './unified/index.ts';
export type { StaticToolAnswer } from './unified/static-tool.ts';
