/**
 * Replaces `${workspaceFolder}` in entries by the folder the client works in. A server of the user's own files gets the
 * folder only if the user has trusted it; otherwise the server is refused, and the message names the command to run.
 * @module
 */
import { basename, resolve } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { mapTexts, textsOf, transportParts } from '../core/transport-parts.ts';
import type { ConnectionDefinition, ServerDefinition } from '../core/types.ts';
import { shellWord } from '../text/shell-word.ts';
import type { World } from './world.ts';

/** `$${…}` is literal text. */
const REFERENCE = /(\$?)\$\{workspaceFolder(Basename)?\}/g;

/** Returns the command that lets the user's own servers work in a folder. */
const trustFolderCommand = (folder: string): string => `anygpt mcp trust ${shellWord(folder)}`;

/** Returns a connection with the folder filled in. */
export function inWorkspace(connection: ConnectionDefinition, folder: string): ConnectionDefinition {
  if (!refersToWorkspace(connection)) return connection;
  // The text is expanded again when the connection opens.
  const put = (text: string) =>
    replaced(
      text,
      folder.replaceAll('${', () => '$${'),
    );
  // The working folder is not expanded again, and may be relative to the folder.
  return mapTexts(connection, put, (cwd) => resolve(folder, replaced(cwd, folder)));
}

/**
 * Fills in the client's folder for the user's own servers, or refuses them.
 * @param isTrusted tells whether a folder is trusted; called only when a server needs it
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
    // The command comes first: a note in search results keeps only the beginning.
    return `run \`${trustFolderCommand(folder)}\` if you trust what is in that folder; its entry uses \${workspaceFolder}.`;
  } catch (error) {
    // If unknown, the folder is not trusted.
    if (error instanceof ConfigurationError)
      return `its entry uses \${workspaceFolder}, and it is unknown whether ${folder} is trusted: ${error.message}`;
    throw error;
  }
}

function refersToWorkspace(connection: ConnectionDefinition): boolean {
  const texts = [...textsOf(connection), transportParts(connection.type).folder(connection) ?? ''];
  return texts.some((text) => replaced(text, '') !== text);
}

const replaced = (text: string, folder: string): string =>
  text.replace(REFERENCE, (whole, escaped: string, name: string | undefined) =>
    escaped === '' ? (name === undefined ? folder : basename(folder)) : whole,
  );
