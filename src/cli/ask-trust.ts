/**
 * Asks the person at the terminal whether a configuration that came with a folder may be used; a yes is remembered.
 * @module
 */
import { realWorld, stateFolder } from '../config/world.ts';
import type { Io } from './io.ts';

/** How a loader asks; undefined where nobody could answer, and the file then counts as untrusted. */
export function askTrust(io: Io): ((path: string, hash: string) => Promise<boolean>) | undefined {
  if (!io.stdin.isTTY || !io.stderr.isTTY) return undefined;
  const answers = new Map<string, Promise<boolean>>();
  return (path, hash) => {
    const known = answers.get(path + hash) ?? ask(io, path, hash);
    answers.set(path + hash, known);
    return known;
  };
}

async function ask(io: Io, path: string, hash: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: io.stdin, output: io.stderr });
  try {
    io.stderr.write(`${path} came with this folder. Using it can start programs on this machine.\n`);
    const answer = await prompt.question('Use it, now and as long as it does not change? [y/N] ');
    if (!/^\s*y(?:es)?\s*$/i.test(answer)) return false;
  } finally {
    prompt.close();
  }
  const { TrustStore } = await import('../config/trust.ts');
  await new TrustStore(stateFolder(realWorld({ env: io.env, cwd: io.cwd }))).trust(path, hash);
  return true;
}
