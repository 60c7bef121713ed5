/**
 * Finds servers that start the same program as another one, and servers that have another name in their own file.
 * Identical servers of two clients are merged before; those found here are in one file, or in the configuration itself.
 * @module
 */
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { identityOf } from '../config/server-identity.ts';
import { withTilde } from './source-lines.ts';

/** By name: what to do about each server that duplicates another one. */
export function sameServers(
  { servers, sources, origin }: Pick<ResolvedConfig, 'servers' | 'sources' | 'origin'>,
  home: string | undefined,
): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  const found = new Map<string, string>();
  for (const definition of servers) {
    if (!definition.enabled) continue;
    const { name } = definition;
    const identity = identityOf(definition.connection);
    const other = first.get(identity);
    if (other === undefined) {
      first.set(identity, name);
      continue;
    }
    const imported = sources.some(({ path }) => path === definition.origin.file);
    const how = imported
      ? `add {"name": ${JSON.stringify(name)}, "enabled": false} to "servers" in ${withTilde(origin ?? 'your configuration', home)}`
      : `add "enabled": false to its entry in ${withTilde(definition.origin.file, home)}`;
    found.set(name, `The same as ${other}, so their tools compete. To disable this one, ${how}.`);
  }
  return found;
}

/** By name: one sentence for each server that has another name in its own file. */
export const renamedServers = (
  { servers }: Pick<ResolvedConfig, 'servers'>,
  home: string | undefined,
): ReadonlyMap<string, string> =>
  new Map(
    servers.flatMap(({ name, origin: { file, name: there } }) =>
      there === undefined
        ? []
        : [
            [
              name,
              `Called ${JSON.stringify(there)} in ${withTilde(file, home)}; another server has that name here.`,
            ] as const,
          ],
    ),
  );
