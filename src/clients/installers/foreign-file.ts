/**
 * Checks trust in a client's file that is not the user's own, such as a project's. Without trust, moving its servers
 * behind the gateway would run code from a project.
 * @module
 */

import { type FilePreview, previewFile, trustableFileAt } from '../../config/project-files.ts';
import { Snapshot } from '../../config/project-snapshot.ts';
import { TrustStore } from '../../config/trust-store.ts';
import { stateFolder, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Installed } from './installed.ts';

/** Asks the user about a file that the trust store does not know in its current state. */
export type AskTrust = (path: string, hash: string, look: FilePreview) => boolean | Promise<boolean>;

/** Returns a snapshot in which the file has this text. */
function reading(path: string, text: string): Snapshot {
  const files = new Snapshot();
  files.remember(path, text);
  return files;
}

/** Previews the file; the preview has the hash. */
const lookAt = (path: string, text: string, world: World): Promise<FilePreview> =>
  previewFile({ ...trustableFileAt(path, world), isNamed: true }, world, reading(path, text));

const storeOf = (world: World): TrustStore => new TrustStore(stateFolder(world));

/** Tells whether exactly this text was trusted at this path. */
export async function isTrusted(path: string, text: string, world: World, ask?: AskTrust): Promise<boolean> {
  const record = await storeOf(world).record(path);
  if (record !== undefined && reading(path, text).verify(path, record)) return true;
  if (ask === undefined) return false;
  const look = await lookAt(path, text, world);
  return look.hash !== undefined && ask(path, look.hash, look);
}

/**
 * Throws unless the user has trusted what is to move: the copy, if the file is unchanged since, or the file as it is.
 * @param base the file without our entry and with the servers that were moved before
 */
export async function refuseUntrusted(
  { found: { path }, text, kept }: Pick<Installed, 'found' | 'text' | 'kept'>,
  base: string,
  ask: AskTrust | undefined,
  world: World,
): Promise<void> {
  if (kept?.taken) {
    if (!(await isTrusted(kept.path, kept.text, world, ask))) throw untrusted(kept.path);
    if (kept.text === base) return;
  }
  if (!(await isTrusted(path, base, world)) && !(await isTrusted(path, text, world, ask))) throw untrusted(path);
}

const untrusted = (path: string): ConfigurationError =>
  new ConfigurationError(
    `${path} is not one of your own files and is not trusted, so its servers are not moved behind the gateway. Look at it and run \`anygpt mcp trust ${shellWord(path)}\`, or install without --take-over.`,
  );

export async function trustCopy(path: string, text: string, world: World): Promise<void> {
  const { hash, files } = await lookAt(path, text, world);
  if (hash !== undefined) await storeOf(world).trust(path, hash, files);
}

/** Revokes the trust in a deleted copy. */
export async function forgetCopy(path: string, world: World): Promise<void> {
  await storeOf(world).revoke(path);
}
