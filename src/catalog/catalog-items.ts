/**
 * Holds the resources and prompts of every server, with an index of their own, so that they never change how tools are
 * ranked.
 * @module
 */
import type { ItemKind, ServerItems } from '../core/types.ts';
import type { Decision } from '../rules/decide.ts';
import type { ToolPolicy } from '../rules/tool-policy.ts';
import type { SearchEngine } from '../search/search-engine.ts';
import { type CatalogEntry, NO_ITEMS } from './catalog-entry.ts';
import { toIndexed } from './server-items.ts';

export class CatalogItems {
  readonly search: SearchEngine;
  readonly #entries: ReadonlyMap<string, CatalogEntry>;
  readonly #policy: Pick<ToolPolicy, 'decideItem'>;

  constructor(
    search: SearchEngine,
    entries: ReadonlyMap<string, CatalogEntry>,
    policy: Pick<ToolPolicy, 'decideItem'>,
  ) {
    this.search = search;
    this.#entries = entries;
    this.#policy = policy;
  }

  /** All resources and prompts of a server, disabled ones included. Needs `Catalog.load`. */
  of(server: string): ServerItems {
    return this.#entries.get(server)?.items ?? NO_ITEMS;
  }

  /**
   * The decision of the rules about a resource or a prompt. Unless a rule names it, one of a server whose tools are all
   * disabled is disabled too.
   */
  decide(server: string, kind: ItemKind, id: string): Decision {
    const decision = this.#policy.decideItem(server, id, kind);
    const { toolCount = 0, enabledCount = 0 } = this.#entries.get(server)?.state ?? {};
    if (!decision.enabled || decision.rule !== undefined || toolCount === 0 || enabledCount > 0) return decision;
    return { ...decision, enabled: false, reason: `Disabled: all tools of ${server} are.` };
  }

  /** Indexes the items of a server, with the server's description. */
  *index({ definition: { name }, items }: CatalogEntry, about: string): Generator<unknown, void> {
    const indexed = toIndexed(name, items, ({ kind, id }) => this.decide(name, kind, id));
    yield* this.search.setServerInSteps(name, indexed, about);
  }
}
