/**
 * `@anygpt/discovery/registry`: for those who write a server or an agent loop. A registry of one's own tools behind a
 * search, one registry over own tools and MCP servers, and tools in the words of every LLM API. Loads no transports.
 * @module
 */

export * from './agent/formats/index.ts';
export * from './agent/registry/index.ts';
export * from './agent/unified/index.ts';
export type { StaticToolAnswer } from './agent/unified/static-tool.ts';
export type { ErrorDetails, ErrorInfo, Outcome } from './core/errors.ts';
export type { ToolResult } from './core/result.ts';
export type { Caller, Logger, ServerRequest, ToolExample, ToolMetadata, ToolParameter, ToolRef } from './core/types.ts';
