/**
 * Looks a configured server up, disabled ones included, and says where it is written.
 * @module
 */
import { DiscoveryError } from '../../core/errors.ts';
import type { ServerDefinition } from '../../core/types.ts';
import { didYouMean, nearestNames } from '../../text/nearest-names.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Session } from '../session.ts';
import { withTilde } from '../source-lines.ts';

/** Returns a server by its name. Throws SERVER_NOT_FOUND with the nearest names. */
export async function knownServer({ engine }: Session, name: string): Promise<ServerDefinition> {
  const { servers } = await engine.getConfig();
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const suggestions = nearestNames(
    name,
    servers.map((server) => server.name),
  );
  const hint = didYouMean(suggestions, '"anygpt mcp list" shows all servers.');
  const message = `There is no server "${oneLine(name, 100)}". ${hint}`;
  throw new DiscoveryError('SERVER_NOT_FOUND', message, { suggestions });
}

/** `Cursor, in ~/.cursor/mcp.json`, or the file alone. */
export async function whereIs(
  { origin: { client, file } }: ServerDefinition,
  home: string | undefined,
): Promise<string> {
  const shown = withTilde(file, home);
  if (client === undefined || client === 'custom') return shown;
  const { titleOf } = await import('../../config/project-files.ts');
  return `${titleOf(client as never)}, in ${shown}`;
}
