/**
 * Stores the tools of all servers, by server and name.
 * @module
 */

import type { ToolMetadata } from '../core/types.ts';

export class ToolMetadataStore {
  readonly #servers = new Map<string, Map<string, ToolMetadata>>();

  /** Adds a tool, or replaces the one of the same server and name. */
  addTool(tool: ToolMetadata): void {
    let tools = this.#servers.get(tool.server);
    if (!tools) {
      tools = new Map();
      this.#servers.set(tool.server, tools);
    }
    tools.set(tool.name, tool);
  }

  /** Replaces everything known of one server. */
  setServer(server: string, tools: readonly ToolMetadata[]): void {
    this.#servers.set(server, new Map(tools.map((tool) => [tool.name, tool])));
  }

  removeServer(server: string): void {
    this.#servers.delete(server);
  }

  /** One server's tools, sorted by name; empty for an unknown server. Tools that wait for approval are left out. */
  getToolsByServer(server: string, includeDisabled = false): ToolMetadata[] {
    const tools = [...(this.#servers.get(server)?.values() ?? [])];
    return tools.filter(({ enabled, approval }) => enabled || (includeDisabled && !approval)).sort(byName);
  }

  getTool(server: string, tool: string): ToolMetadata | null {
    return this.#servers.get(server)?.get(tool) ?? null;
  }

  /** Every tool, by server and name. */
  getAllTools(includeDisabled = false): ToolMetadata[] {
    return [...this.#servers.keys()].sort().flatMap((server) => this.getToolsByServer(server, includeDisabled));
  }

  /** Every tool, those that wait for approval included. */
  protected *tools(): Generator<ToolMetadata, void> {
    for (const tools of this.#servers.values()) yield* [...tools.values()];
  }

  hasServer(server: string): boolean {
    return this.#servers.has(server);
  }

  getToolCount(server: string): number {
    return this.#servers.get(server)?.size ?? 0;
  }

  getEnabledCount(server: string): number {
    return this.#count(server, ({ enabled }) => enabled);
  }

  /** How many tools wait for approval. */
  getUnapprovedCount(server: string): number {
    return this.#count(server, ({ approval }) => approval !== undefined);
  }

  #count(server: string, counts: (tool: ToolMetadata) => boolean): number {
    let count = 0;
    for (const tool of this.#servers.get(server)?.values() ?? []) if (counts(tool)) count++;
    return count;
  }
}

const byName = (a: ToolMetadata, b: ToolMetadata): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
