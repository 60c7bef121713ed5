/**
 * Records the lists of servers that need approval, and asks the scanner which tools are not pinned on first sight.
 * @module
 */
import type { Approvals } from '../approvals/approvals.ts';
import type { ScanFinding } from '../approvals/scan/scan-definition.ts';
import type { Catalog, CatalogOptions } from '../catalog/catalog.ts';
import { NO_ITEMS } from '../catalog/catalog-entry.ts';
import { paced } from '../catalog/paced.ts';
import { introductionDefinition, itemDefinitions } from '../core/item-definition.ts';
import type { ToolDefinition } from '../core/types.ts';
import type { ToolPolicy } from '../rules/tool-policy.ts';

type Servers = CatalogOptions['servers'];

/** Has the scanner look at definitions that a rule approves. Resolves with whether it found nothing in one of them. */
export type Vet = (server: string, definitions: readonly ToolDefinition[]) => Promise<boolean>;

/** Returns the look of the scanner, for the definitions of servers that need approval. Each is scanned once. */
export const vetDefinitions =
  (policy: ToolPolicy, approvals: Approvals, servers: Servers, catalog: () => Catalog): Vet =>
  async (server, definitions) => {
    const waiting = definitions.filter((definition) => policy.isForScanner(server, definition));
    if (waiting.length === 0) return false;
    const scan = await scanBeside(server, servers, catalog());
    const clean: ToolDefinition[] = [];
    await paced(
      (function* () {
        for (const definition of waiting) {
          if (scan(definition).length === 0) clean.push(definition);
          yield;
        }
      })(),
    );
    approvals.vouch(server, clean);
    return clean.length > 0;
  };

/** Returns what the catalogue calls with every list. A list with a part missing is no sight of the server. */
export const sightLists =
  (approvals: Approvals, vet: Vet, servers: Servers, catalog: () => Catalog): NonNullable<CatalogOptions['sight']> =>
  async ({ server, tools, items, introduction, incomplete, isCut }) => {
    const ofItems = [...(introduction ? [introductionDefinition(introduction)] : []), ...itemDefinitions(items ?? {})];
    const isSight = !incomplete || isCut === true;
    // What a server offers beside tools only later was not in its first list.
    const isWhole = isSight && tools.length > 0 && Object.keys(items ?? {}).length === Object.keys(NO_ITEMS).length;
    const hasTools = isSight && (await approvals.sight(server, 'tools', tools, () => holds(tools)));
    const hasItems = await approvals.sight(server, 'items', ofItems, () => holds(ofItems), isWhole);
    return (await vet(server, [...tools, ...ofItems])) || hasTools || hasItems;

    async function holds(definitions: readonly ToolDefinition[]) {
      const scan = await scanBeside(server, servers, catalog());
      const held = new Set<ToolDefinition>();
      await paced(
        (function* () {
          for (const definition of definitions) {
            if (approvals.statusOf(server, definition) === 'approved') continue;
            if (scan(definition).length > 0) held.add(definition);
            yield;
          }
        })(),
      );
      return (definition: ToolDefinition) => held.has(definition);
    }
  };

/** Returns a scan that knows the tools of all other servers, as far as they were listed. */
export async function scanBeside(
  server: string,
  servers: Servers,
  catalog: Catalog,
): Promise<(definition: ToolDefinition) => ScanFinding[]> {
  const [{ scanDefinition }, { KnownNames }] = await Promise.all([
    import('../approvals/scan/scan-definition.ts'),
    import('../approvals/scan/known-names.ts'),
  ]);
  const others = [...servers.keys()].filter((name) => name !== server && catalog.isSeen(name));
  const lists = await Promise.all(others.map((name) => catalog.names(name)));
  const names = new KnownNames(lists.flat().filter(({ kind }) => kind === undefined));
  return (definition) => scanDefinition(server, definition, names);
}
