/**
 * Stores the tools of all servers, with the decisions of the rules, by server and name.
 * @module
 */

import type { ToolMetadata } from '../core/types.ts';
import type { RuleSet } from '../rules/decide.ts';

/** Stores tool metadata; `applyRules` updates `enabled` and `tags`. */
export class ToolMetadataManager {
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

  /** Replaces all tools of one server. */
  setServer(server: string, tools: readonly ToolMetadata[]): void {
    this.#servers.set(server, new Map(tools.map((tool) => [tool.name, tool])));
  }

  removeServer(server: string): void {
    this.#servers.delete(server);
  }

  /** Applies a rule set to every tool. A tool's earlier tags stay, in front. */
  applyRules(rules: Pick<RuleSet, 'decide'>): void {
    for (const tools of this.#servers.values()) {
      for (const [name, tool] of tools) {
        const { enabled, tags } = rules.decide(tool.server, name);
        tools.set(name, { ...tool, enabled, tags: [...new Set([...tool.tags, ...tags])] });
      }
    }
  }

  /** One server's tools by name; empty for an unknown server. */
  getToolsByServer(server: string, includeDisabled = false): ToolMetadata[] {
    const tools = [...(this.#servers.get(server)?.values() ?? [])];
    return tools.filter((tool) => includeDisabled || tool.enabled).sort(byName);
  }

  getTool(server: string, tool: string): ToolMetadata | null {
    return this.#servers.get(server)?.get(tool) ?? null;
  }

  /** Every tool, by server and name. */
  getAllTools(includeDisabled = false): ToolMetadata[] {
    return [...this.#servers.keys()].sort().flatMap((server) => this.getToolsByServer(server, includeDisabled));
  }

  hasServer(server: string): boolean {
    return this.#servers.has(server);
  }

  getToolCount(server: string): number {
    return this.#servers.get(server)?.size ?? 0;
  }

  getEnabledCount(server: string): number {
    let count = 0;
    for (const tool of this.#servers.get(server)?.values() ?? []) if (tool.enabled) count++;
    return count;
  }
}

const byName = (a: ToolMetadata, b: ToolMetadata): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
