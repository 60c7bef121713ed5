/**
 * The port through which an embedding index sees the catalogue.
 * @module
 */
import type { ToolMetadata } from '../core/types.ts';

/** One server whose tools are known. */
export interface SourceServer {
  readonly name: string;
  /** Of the connection. */
  readonly fingerprint: string;
  /** Changes whenever one of its tools does. */
  readonly stamp: string;
  readonly toolCount: number;
}

/** Who has tools, and which. */
export interface ToolSource {
  servers(): readonly SourceServer[];
  /** All tools of a server; read one by one. */
  tools(server: string): Promise<Iterable<ToolMetadata>>;
}
