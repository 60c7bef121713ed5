/**
 * Finds servers whose names lead to the same environment variable: `my-server` and `my.server` both give MY_SERVER_….
 * None of them gets a token that could be another server's; a switch turns all of them off. Warnings report both.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import { serverVariable } from '../text/server-variable.ts';
import { isSwitchedOff, type World } from './world.ts';

/** Servers after applying the environment, and the warnings. */
interface ServersInEnvironment {
  readonly servers: readonly ServerDefinition[];
  readonly warnings: readonly string[];
}

/** Switches servers off as the environment says, and removes tokens that could be another server's. */
export function withEnvironment(servers: readonly ServerDefinition[], { env }: World): ServersInEnvironment {
  const warnings: string[] = [];
  const switches = sharers(servers, 'MCP_ENABLED', () => true);
  const tokens = sharers(
    servers,
    'MCP_TOKEN',
    ({ connection, enabled, name }) =>
      enabled &&
      !isLocal(connection) &&
      connection.auth === 'env' &&
      !isSwitchedOff(env[serverVariable(name, 'MCP_ENABLED')]),
  );
  for (const [variable, names] of switches)
    if (isSwitchedOff(env[variable]))
      warnings.push(
        `${variable} switches off ${listed(names)}, because their names give the same variable. Rename one, or write enabled: false in one entry.`,
      );
  for (const [variable, names] of tokens)
    warnings.push(
      `${variable} would be the token of ${listed(names)}, so it is sent to none of them. Rename one, or write headers: { Authorization: 'Bearer \${NAME}' } in place of auth: 'env'.`,
    );
  return {
    servers: servers.map((server) => {
      const { origin } = server;
      const own = env[serverVariable(server.name, 'MCP_ENABLED')];
      // A server switched off by its original name stays off under its new name, unless the new name is switched on.
      const elsewhere = [...(origin.name === undefined ? [] : [origin.name]), ...(origin.sameAs ?? [])];
      const off = own
        ? isSwitchedOff(own)
        : elsewhere.some((name) => isSwitchedOff(env[serverVariable(name, 'MCP_ENABLED')]));
      const { connection } = server;
      const isAmbiguous =
        tokens.size > 0 && tokens.get(serverVariable(server.name, 'MCP_TOKEN'))?.includes(server.name) === true;
      return {
        ...server,
        ...(off && { enabled: false }),
        ...(isAmbiguous && !isLocal(connection) && { connection: { ...connection, auth: undefined } }),
      };
    }),
    warnings,
  };
}

/** Returns the variables that several servers use, with the names of those servers. */
function sharers(
  servers: readonly ServerDefinition[],
  suffix: string,
  uses: (server: ServerDefinition) => boolean,
): ReadonlyMap<string, readonly string[]> {
  const byVariable = new Map<string, string[]>();
  for (const server of servers) {
    if (!uses(server)) continue;
    const variable = serverVariable(server.name, suffix);
    byVariable.set(variable, [...(byVariable.get(variable) ?? []), server.name]);
  }
  return new Map([...byVariable].filter(([, names]) => names.length > 1));
}

const listed = (names: readonly string[]): string => {
  const shown = names.slice(0, LIMITS.shown.named).map((name) => JSON.stringify(name));
  return names.length > LIMITS.shown.named
    ? `${shown.join(', ')} and ${names.length - LIMITS.shown.named} more`
    : shown.join(' and ');
};
