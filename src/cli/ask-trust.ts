/**
 * Asks at the terminal whether a configuration that came with a folder may be used, and remembers a yes.
 * @module
 */
import type { LoaderOptions } from '../config/configuration-loader.ts';
import type { FilePreview } from '../config/project-files.ts';
import { realWorld, stateFolder } from '../config/world.ts';
import { oneLine, plainText } from '../text/plain-text.ts';
import type { Io } from './io.ts';

/** The question for a loader; undefined without a terminal, where the file counts as untrusted. */
export function askTrust(io: Io): LoaderOptions['isTrusted'] {
  if (!io.stderr.isTTY || !io.stdin.isTTY) return undefined;
  const answers = new Map<string, Promise<boolean>>();
  // Sources are read in parallel; questions come one at a time.
  let turn: Promise<unknown> = Promise.resolve();
  return (path, hash, look) => {
    const known = answers.get(path + hash);
    if (known) return known;
    const answer = turn.then(() => ask(io, path, hash, look));
    turn = answer.catch(() => undefined);
    answers.set(path + hash, answer);
    return answer;
  };
}

async function ask(io: Io, path: string, hash: string, look: FilePreview): Promise<boolean> {
  const { isYes } = await import('./ask.ts');
  const { previewLines } = await import('./trust-lines.ts');
  io.stderr.write(`${oneLine(path, 1_000)} came with this folder. Using it can start programs on this machine:\n`);
  for (const line of previewLines(look)) io.stderr.write(`${plainText(line)}\n`);
  if (!(await isYes(io, 'Trust this file until it changes? [y/N] '))) return false;
  const { TrustStore } = await import('../config/trust-store.ts');
  await new TrustStore(stateFolder(realWorld({ env: io.env, cwd: io.cwd }))).trust(path, hash, look.files);
  return true;
}
