/**
 * Which texts of a configuration are secrets: what its references stand for, and what is written literally into
 * environments and headers. They are taken out of everything we say.
 * @module
 */
import { referencesIn } from './config/references.ts';
import { serverVariable } from './config/world.ts';
import type { ServerDefinition } from './types.ts';

/** Every secret value that the servers of a configuration are given. */
export function secretsOf(
  servers: Iterable<ServerDefinition>,
  env: Readonly<Record<string, string | undefined>>,
): Set<string> {
  const secrets = new Set<string>();
  const add = (value: string | undefined) => {
    if (value) secrets.add(value);
  };
  const referenced = (text: string) => {
    for (const { name } of referencesIn(text)) add(env[name]);
  };
  for (const { connection, name } of servers) {
    if (connection.kind === 'stdio') {
      for (const text of [connection.command, ...connection.args]) referenced(text);
      for (const variable of connection.inheritEnv) {
        const value = env[variable];
        if (value !== undefined && looksSecret(value)) add(value);
      }
    } else {
      referenced(connection.url);
      if (connection.auth === 'env') {
        add(env[serverVariable(name, 'MCP_TOKEN')]);
        add(env.MCP_AUTH_TOKEN);
      }
    }
    for (const text of Object.values(connection.kind === 'stdio' ? connection.env : connection.headers)) {
      referenced(text);
      if (!text.includes('${') && looksSecret(text)) add(text);
    }
  }
  return secrets;
}

// `1`, `production` or a path are no secrets, and blotting them out would make messages unreadable.
const looksSecret = (text: string): boolean => text.length >= 12 && !/^[./~]|^[a-z]+$/i.test(text);
