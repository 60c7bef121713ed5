/**
 * Shows a login at the terminal: opens the browser, or prints the address and reads what is pasted.
 * @module
 */
import { createInterface, type Interface } from 'node:readline/promises';
import type { LoginScreen } from '../logins/login-flow.ts';
import { block, columnsIn } from './layout.ts';
import type { Session } from './session.ts';

/** Returns the screen for logins to one server. */
export function loginScreen({ io, signal }: Session, server: string, usesBrowser: boolean): LoginScreen & Disposable {
  const say = (text: string) => io.stderr.write(`${text}\n`);
  // Addresses are written whole, so that a terminal can open them.
  const ask = (text: string) => say(block(text, columnsIn(io.stderr), ''));
  let prompt: { readonly lines: Interface; readonly typed: AsyncIterator<string> } | undefined;
  return {
    prefersCode: !usesBrowser,
    signal,
    show: (address, code) => {
      if (code !== undefined) return void say(`To log in to ${server}, open ${address.href} and type the code ${code}`);
      const visit = `To log in to ${server}, open this address in a browser:\n\n  ${address.href}\n`;
      if (!usesBrowser) {
        say(visit);
        ask('The browser then shows a page of this computer. If it cannot be reached, paste its address here:');
        return;
      }
      void import('../logins/open-browser.ts')
        .then(({ openBrowser }) => openBrowser(address, io.env))
        .then((isOpen) =>
          say(isOpen ? `The browser was opened. If no page is shown, open:\n\n  ${address.href}\n` : visit),
        );
    },
    pasted: async (ended, isAgain) => {
      if (usesBrowser) return undefined;
      if (isAgain) ask('That is not the address of the last page of this login. Paste all of it, from http on:');
      if (!prompt) {
        const lines = createInterface({ input: io.stdin });
        prompt = { lines, typed: lines[Symbol.asyncIterator]() };
        ended.addEventListener('abort', () => lines.close(), { once: true });
      }
      for (;;) {
        const { value, done } = await prompt.typed.next();
        if (done) return undefined;
        if (value.trim() !== '') return value;
      }
    },
    [Symbol.dispose]: () => prompt?.lines.close(),
  };
}
