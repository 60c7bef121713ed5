/**
 * Defines the port through which an embedding index sees the catalogue.
 * @module
 */
import type { ToolMetadata } from '../core/types.ts';

/** One server with known tools. */
export interface SourceServer {
  readonly name: string;
  /** Fingerprint of the connection. */
  readonly fingerprint: string;
  /** Changes whenever one of the tools does. */
  readonly stamp: string;
  readonly toolCount: number;
}

/** Lists the servers and their tools. */
export interface ToolSource {
  servers(): readonly SourceServer[];
  /** All tools of a server, iterated lazily. */
  tools(server: string): Promise<Iterable<ToolMetadata>>;
}
