/**
 * Says of each server that is the same as an earlier one what to do about it. The same server of two clients is listed
 * once; these are kept apart, because one file has both, or because the configuration itself has one.
 * @module
 */
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { identityOf } from '../config/server-identity.ts';
import { withTilde } from './source-lines.ts';

/** By name: one sentence for every server whose tools compete with those of another. */
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
    found.set(name, `The same as ${other}, so their tools compete. To switch this one off, ${how}.`);
  }
  return found;
}

/** By name: one sentence for every server that has another name in the file it came from. */
export const renamedServers = (
  { servers }: Pick<ResolvedConfig, 'servers'>,
  home: string | undefined,
): ReadonlyMap<string, string> =>
  new Map(
    servers.flatMap(({ name, origin: { file, name: there } }) =>
      there === undefined
        ? []
        : [[name, `${JSON.stringify(there)} in ${withTilde(file, home)}; another server has that name here.`] as const],
    ),
  );
