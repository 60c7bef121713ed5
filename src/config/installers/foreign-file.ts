/**
 * A client's file that is not the user's own, such as a project's, in; whether a person has trusted it as it is out.
 * Moving servers of such a file behind the gateway would else run what came with a folder.
 * @module
 */
import { ConfigurationError } from '../../errors.ts';
import { shellWord } from '../../shell-word.ts';
import { fingerprintOf } from '../fingerprint.ts';
import { TrustStore } from '../trust.ts';
import { stateFolder, type World } from '../world.ts';
import type { Installed } from './installed.ts';

/** Asks a person about a file that the trust store does not know in this state. */
export type AskTrust = (path: string, hash: string) => boolean | Promise<boolean>;

/** Files are trusted as they are read, without a byte order mark. */
const hashOf = async (path: string, text: string): Promise<string> =>
  (await fingerprintOf(path, text.replace(/^\ufeff/, ''))).hash;
const storeOf = (world: World): TrustStore => new TrustStore(stateFolder(world));

/** Whether exactly this text was trusted at this path. */
export async function isTrusted(path: string, text: string, world: World, ask?: AskTrust): Promise<boolean> {
  const hash = await hashOf(path, text);
  return (await storeOf(world).isTrusted(path, hash)) || ((await ask?.(path, hash)) ?? false);
}

/**
 * Throws unless a person has seen what is to move: the copy, where nothing came since, or the file as it is.
 * @param base the file without our entry, and with what was moved before
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

/** The copy of a trusted file is as good as the file. */
export const trustCopy = async (path: string, text: string, world: World): Promise<void> =>
  storeOf(world).trust(path, await hashOf(path, text));

/** A copy that is gone leaves no trust behind. */
export async function forgetCopy(path: string, world: World): Promise<void> {
  await storeOf(world).revoke(path);
}
