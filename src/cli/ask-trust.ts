/**
 * Asks at the terminal whether a configuration that came with a folder may be used, and remembers a yes or a no. Enter
 * alone decides nothing: the next command asks again.
 * @module
 */
import type { LoaderOptions } from '../config/configuration-loader.ts';
import type { FilePreview } from '../config/project-files.ts';
import { realWorld, stateFolder } from '../config/world.ts';
import { oneLine } from '../text/plain-text.ts';
import type { Io } from './io.ts';
import { block, columnsIn } from './layout.ts';
import { withTilde } from './source-lines.ts';

/**
 * The question for a loader; undefined without a terminal, where the file counts as untrusted.
 * @param again asks about declined files too, for a command that needs the file
 */
export function askTrust(io: Io, again = false): LoaderOptions['isTrusted'] {
  if (!io.stderr.isTTY || !io.stdin.isTTY) return undefined;
  const answers = new Map<string, Promise<boolean>>();
  // Sources are read in parallel; questions come one at a time.
  let turn: Promise<unknown> = Promise.resolve();
  return (path, hash, look) => {
    const known = answers.get(path + hash);
    if (known) return known;
    const answer = turn.then(() => ask(io, path, hash, look, again));
    turn = answer.catch(() => undefined);
    answers.set(path + hash, answer);
    return answer;
  };
}

async function ask(io: Io, path: string, hash: string, look: FilePreview, again: boolean): Promise<boolean> {
  const { TrustStore } = await import('../config/trust-store.ts');
  const world = realWorld({ env: io.env, cwd: io.cwd });
  const store = new TrustStore(stateFolder(world));
  if (!again && (await store.isDeclined(path, hash))) return false;
  const { ask: question } = await import('./ask.ts');
  const { effectLines, previewText } = await import('./trust-lines.ts');
  const { trustEffects } = await import('./trust-effects.ts');
  const width = columnsIn(io.stderr);
  const name = oneLine(withTilde(path, world.home), 1_000);
  const lines = [
    block(`${name} came with this folder. Using it can start programs on this machine:`, width, ''),
    ...previewText(look, width, world.home),
    ...effectLines(await trustEffects([look], world), width, world.home),
  ];
  io.stderr.write(`${lines.join('\n')}\n`);
  const answer = await question(io, 'Trust this file until it changes? [y/n, Enter to decide later] ', (text) => text);
  if (/^y(?:es)?$/i.test(answer ?? '')) {
    await store.trust(path, hash, look.files);
    return true;
  }
  if (/^no?$/i.test(answer ?? '')) await store.decline(path, hash);
  return false;
}
