/**
 * Holds the resources and prompts of every server, with an index of their own, so that they never change how tools are
 * ranked.
 * @module
 */
import {
  type ItemDefinition,
  itemDefinitions,
  promptDefinition,
  resourceDefinition,
  templateDefinition,
} from '../core/item-definition.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { ItemKind, ServerItems } from '../core/types.ts';
import { uriReadings } from '../rules/pattern.ts';
import type { ToolDecision, ToolPolicy } from '../rules/tool-policy.ts';
import { matchesPattern } from '../search/query-filters.ts';
import type { SearchEngine } from '../search/search-engine.ts';
import { type CatalogEntry, NO_ITEMS } from './catalog-entry.ts';
import { listedAs, toIndexed } from './server-items.ts';

export class CatalogItems {
  readonly search: SearchEngine;
  readonly #entries: ReadonlyMap<string, CatalogEntry>;
  readonly #policy: Pick<ToolPolicy, 'decide' | 'decideItem'>;

  constructor(
    search: SearchEngine,
    entries: ReadonlyMap<string, CatalogEntry>,
    policy: Pick<ToolPolicy, 'decide' | 'decideItem'>,
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
   * The decision about a resource or a prompt. Unless a rule names it, one of a server whose tools are all disabled is
   * disabled too. Of a server that needs approval, needs `Catalog.load`: all definitions of
   * that name must be approved, and of other spellings of a URI.
   */
  decide(server: string, kind: ItemKind, id: string): ToolDecision {
    const ruled = this.#policy.decideItem(server, id, kind);
    const entry = this.#entries.get(server);
    const { toolCount = 0, enabledCount = 0, unapprovedCount = 0 } = entry?.state ?? {};
    const hasTools = toolCount > 0 || entry?.hasHidden === true;
    const isAlone = ruled.rule === undefined && hasTools && enabledCount + unapprovedCount === 0;
    if (ruled.enabled && isAlone) return { ...ruled, enabled: false, reason: `Disabled: all tools of ${server} are.` };
    if (!ruled.enabled || entry === undefined || isProvider(entry.definition) || !entry.definition.approval)
      return ruled;
    const readings = kind === 'resource' ? uriReadings(id) : [id];
    const definitions = readings.flatMap((reading) => listedAs(entry.items, kind, reading));
    const listed =
      definitions.length > 0
        ? definitions
        : kind === 'prompt'
          ? [promptDefinition({ name: id })]
          : unlisted(entry, readings);
    const decisions = listed.map((definition) => this.#policy.decide(server, definition));
    const isEnabled = ({ enabled }: ToolDecision): boolean => enabled;
    // A URI that is not listed may be made from any template that fits.
    if (definitions.length === 0 && decisions.some(isEnabled)) return ruled;
    return decisions.find((decision) => !isEnabled(decision)) ?? ruled;
  }

  /** Indexes the items of a server, with the server's description. */
  *index({ definition: { name }, items }: CatalogEntry, about: string): Generator<unknown, void> {
    const indexed = toIndexed(name, items, (kind, id) => this.decide(name, kind, id));
    yield* this.search.setServerInSteps(name, indexed, about);
  }
}

/**
 * What the decision on a URI that is not listed depends on: the templates that it can be made from. If there are none,
 * one approved definition of the server is enough: results of tools name such URIs.
 */
function unlisted({ items, state }: CatalogEntry, readings: readonly string[]): readonly ItemDefinition[] {
  const templates = items.resourceTemplates.filter(({ uriTemplate }) => {
    const pieces = uriTemplate.split(/\{[^}]*\}/);
    return readings.some((uri) => matchesPattern(uri, pieces));
  });
  if (templates.length > 0) return templates.map(templateDefinition);
  if (state.enabledCount > 0) return [];
  const all = itemDefinitions(items);
  return all.length > 0 ? all : readings.map((uri) => resourceDefinition({ uri }));
}
