/**
 * Records the lists of servers that need approval, and asks the scanner which tools are not pinned on first sight.
 * @module
 */
import type { Approvals } from '../approvals/approvals.ts';
import type { ScanFinding } from '../approvals/scan/scan-definition.ts';
import type { Catalog, CatalogOptions } from '../catalog/catalog.ts';
import { paced } from '../catalog/paced.ts';
import type { ToolDefinition } from '../core/types.ts';

type Servers = CatalogOptions['servers'];

/** Returns what the catalogue calls with every list. A list with a part missing is no sight of the server. */
export const sightLists =
  (approvals: Approvals, servers: Servers, catalog: () => Catalog): NonNullable<CatalogOptions['sight']> =>
  async ({ server, tools, incomplete, isCut }) =>
    (!incomplete || isCut === true) &&
    approvals.sight(server, tools, async () => {
      const scan = await scanBeside(server, servers, catalog());
      const held = new Set<ToolDefinition>();
      await paced(
        (function* () {
          for (const definition of tools) {
            if (approvals.statusOf(server, definition) === 'approved') continue;
            if (scan(definition).length > 0) held.add(definition);
            yield;
          }
        })(),
      );
      return (definition) => held.has(definition);
    });

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
