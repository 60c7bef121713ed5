/**
 * Stores tools and applies rules to them, for programs that use parts of the engine.
 * @module
 */
import type { ToolMetadata, ToolRule } from '../core/types.ts';
import { ruleSetOf } from '../rules/compile-rules.ts';
import { compileRegex } from '../rules/regex.ts';
import { decideTool } from '../rules/tool-policy.ts';
import { ToolMetadataStore } from './tool-metadata-store.ts';

/**
 * The store that the catalogue uses, with rules applied on request.
 * @example
 * const manager = new ToolMetadataManager();
 * manager.addTool({ server: 'github', name: 'delete_repo', summary: 'Delete a repository', enabled: true, tags: [] });
 * manager.applyRules([{ pattern: ['*delete*'], enabled: false }]);
 * manager.getToolsByServer('github'); // []
 */
export class ToolMetadataManager extends ToolMetadataStore {
  /** The tags that tools had before rules added some. */
  readonly #ownTags = new WeakMap<ToolMetadata, readonly string[]>();

  /** Sets `enabled` and `tags` of every tool by these rules and its `approval`. Throws `ConfigurationError` for a pattern that cannot be used. */
  applyRules(rules: readonly ToolRule[]): void {
    const set = ruleSetOf(rules, compileRegex);
    for (const tool of this.tools()) {
      const own = this.#ownTags.get(tool) ?? tool.tags;
      const { enabled, tags } = decideTool(set.decide(tool.server, tool.name), tool.approval, tool.server, tool.name);
      const ruled = { ...tool, enabled, tags: [...new Set([...own, ...tags])] };
      this.#ownTags.set(ruled, own);
      this.addTool(ruled);
    }
  }
}
