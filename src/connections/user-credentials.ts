/**
 * Gives a connection the variables or headers of the one user it is for.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import { writtenPrincipal } from '../core/principal-name.ts';
import { connectionOf, hasOwnToken, isLocal, transportParts, userTextsOf } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';

/**
 * Returns the definition as one user's connection needs it, without the texts of all other users. Throws
 * SERVER_AUTH_REQUIRED for a user that the entry does not name. Without a principal, the local user gets what all have.
 */
export function definitionFor(definition: ServerDefinition, principal: string | undefined): ServerDefinition {
  const { name, connection } = definition;
  const users = userTextsOf(connection);
  const isOwned = definition.credentials === 'user' && principal !== undefined;
  const isRefused = users
    ? !Object.hasOwn(users, writtenPrincipal(principal ?? ''))
    : !isLocal(connection) && hasOwnToken(connection);
  if (isOwned && isRefused) {
    const { users: field } = transportParts(connection.type).nouns;
    throw new DiscoveryError(
      'SERVER_AUTH_REQUIRED',
      `${name} has no credentials for you. The operator of this gateway can add some under "${field}" of its entry.`,
      { server: name, outcome: 'not_sent', retryable: false },
    );
  }
  return users === undefined ? definition : { ...definition, connection: connectionOf(connection, principal) };
}
