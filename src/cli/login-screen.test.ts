import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { loginScreen } from './login-screen.ts';
import type { Session } from './session.ts';

it('takes one pasted line after another, says which are wrong, and fits into the terminal except for the address', async () => {
  const stdin = new PassThrough();
  const said: string[] = [];
  const stderr = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        said.push(String(chunk));
        done();
      },
    }),
    { isTTY: true, columns: 80 },
  );
  const { signal } = new AbortController();
  using screen = loginScreen({ io: { stdin, stderr, env: {} }, signal } as unknown as Session, 'notes', false);
  const address = `https://login.example.com/auth?state=${'x'.repeat(100)}`;
  screen.show(new URL(address));
  // All of them arrive at once, as from a clipboard with line breaks; empty ones are nobody's answer.
  stdin.write('hello\n\n  \nhttps://example.com/?state=of-another\nlast\n');
  expect(await screen.pasted(signal, false)).toBe('hello');
  expect(await screen.pasted(signal, true)).toBe('https://example.com/?state=of-another');
  expect(await screen.pasted(signal, true)).toBe('last');
  const lines = said.join('').split('\n');
  expect(
    lines.filter((line) => line.startsWith('That is not the address of the last page of this login.')),
  ).toHaveLength(2);
  expect(lines.filter((line) => line.length > 80)).toEqual([`  ${address}`]);
  stdin.end();
  expect(await screen.pasted(signal, false)).toBeUndefined();
});
