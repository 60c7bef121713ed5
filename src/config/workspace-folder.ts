/**
 * Puts a folder where entries say `${workspaceFolder}`, the folder that the client works in. A server of the user's own
 * files gets it only when a person has trusted that folder; otherwise the server is refused, with the command to type.
 * @module
 */
import { basename, resolve } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import type { ConnectionDefinition, ServerDefinition } from '../core/types.ts';
import { shellWord } from '../text/shell-word.ts';
import type { World } from './world.ts';

/** `$${…}` is text. */
const REFERENCE = /(\$?)\$\{workspaceFolder(Basename)?\}/g;

/** What a person types to let servers of their own files work in a folder. */
export const trustFolderCommand = (folder: string): string => `anygpt mcp trust ${shellWord(folder)}`;

/** A connection with the folder put in. */
export function inWorkspace(connection: ConnectionDefinition, folder: string): ConnectionDefinition {
  if (!refersToWorkspace(connection)) return connection;
  // The text is expanded once more when the connection opens.
  const put = (text: string) =>
    replaced(
      text,
      folder.replaceAll('${', () => '$${'),
    );
  const all = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, put(text)]));
  if (connection.type !== 'stdio') return { ...connection, url: put(connection.url), headers: all(connection.headers) };
  const { command, args, env, cwd } = connection;
  return {
    ...connection,
    command: put(command),
    args: args.map(put),
    env: all(env),
    // A path is not expanded again, and may have been written relative to the folder.
    cwd: cwd === undefined ? undefined : resolve(folder, replaced(cwd, folder)),
  };
}

/**
 * The servers of the user's own files with the client's folder put in where they ask for it, or refused.
 * @param isTrusted whether a person has trusted a folder; asked only when a server needs it
 */
export async function withWorkspace(
  servers: readonly ServerDefinition[],
  { cwd }: Pick<World, 'cwd'>,
  isTrusted: (folder: string) => Promise<boolean>,
): Promise<readonly ServerDefinition[]> {
  if (!servers.some(({ connection }) => refersToWorkspace(connection))) return servers;
  const why = await whyNot(cwd, isTrusted);
  return servers.map((server) => {
    if (!refersToWorkspace(server.connection)) return server;
    if (why === undefined) return { ...server, connection: inWorkspace(server.connection, cwd) };
    const refusal = `${server.name} is not started: ${why}`;
    return { ...server, refusal };
  });
}

async function whyNot(folder: string, isTrusted: (folder: string) => Promise<boolean>): Promise<string | undefined> {
  try {
    if (await isTrusted(folder)) return undefined;
    return `run \`${trustFolderCommand(folder)}\` if you trust what is in that folder; its entry uses \${workspaceFolder}.`;
  } catch (error) {
    // In doubt nothing is trusted.
    if (error instanceof ConfigurationError)
      return `its entry uses \${workspaceFolder}, and whether ${folder} is trusted is not known: ${error.message}`;
    throw error;
  }
}

function refersToWorkspace(connection: ConnectionDefinition): boolean {
  const texts =
    connection.type === 'stdio'
      ? [connection.command, ...connection.args, ...Object.values(connection.env), connection.cwd ?? '']
      : [connection.url, ...Object.values(connection.headers)];
  return texts.some((text) => replaced(text, '') !== text);
}

const replaced = (text: string, folder: string): string =>
  text.replace(REFERENCE, (whole, escaped: string, name: string | undefined) =>
    escaped === '' ? (name === undefined ? folder : basename(folder)) : whole,
  );
