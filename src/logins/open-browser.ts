/**
 * Opens a web address in the browser of the user.
 * @module
 */
import { spawn } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

/** The program that opens an address, by platform. None of them is a shell. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an http or https address. Resolves with whether a program for that was started. */
export function openBrowser({ protocol, href }: URL, env: Environment): Promise<boolean> {
  if (protocol !== 'https:' && protocol !== 'http:') return Promise.resolve(false);
  const [command = '', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, href], { env: { ...env }, stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
    child.unref();
  });
}
