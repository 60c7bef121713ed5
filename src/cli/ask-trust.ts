/**
 * Asks the person at the terminal whether a configuration that came with a folder may be used; a yes is remembered.
 * @module
 */
import { realWorld, stateFolder } from '../config/world.ts';
import { plainText } from '../plain-text.ts';
import type { Io } from './io.ts';

/** How a loader asks; undefined where nobody could answer, and the file then counts as untrusted. */
export function askTrust(io: Io): ((path: string, hash: string) => Promise<boolean>) | undefined {
  if (!io.stderr.isTTY || !io.stdin.isTTY) return undefined;
  const answers = new Map<string, Promise<boolean>>();
  // One question at a time: sources are read side by side.
  let turn: Promise<unknown> = Promise.resolve();
  return (path, hash) => {
    const known = answers.get(path + hash);
    if (known) return known;
    const answer = turn.then(() => ask(io, path, hash));
    turn = answer.catch(() => undefined);
    answers.set(path + hash, answer);
    return answer;
  };
}

async function ask(io: Io, path: string, hash: string): Promise<boolean> {
  const { isYes } = await import('./ask.ts');
  const lines = await whatItRuns(io, path, hash);
  io.stderr.write(`${plainText(path)} came with this folder. Using it can start programs on this machine:\n`);
  for (const line of lines) io.stderr.write(`${plainText(line)}\n`);
  if (!(await isYes(io, 'Use it, now and as long as it does not change? [y/N] '))) return false;
  const { TrustStore } = await import('../config/trust.ts');
  await new TrustStore(stateFolder(realWorld({ env: io.env, cwd: io.cwd }))).trust(path, hash);
  return true;
}

/** Like `anygpt mcp trust`. A file that changed while somebody looks at it cannot be shown as what it was. */
async function whatItRuns(io: Io, path: string, hash: string): Promise<readonly string[]> {
  const { previewFile, trustableFileAt } = await import('../config/project-files.ts');
  const { previewLines } = await import('./trust-lines.ts');
  const world = realWorld({ env: io.env, cwd: io.cwd });
  const preview = await previewFile(trustableFileAt(path, world), world);
  return preview.hash === hash ? previewLines(preview) : ['  It cannot be shown here; look at it yourself.'];
}
