import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RedactStream } from './redact-stream.ts';
import { KnownSecrets } from './redactor.ts';

const SECRET = 'k9Xw2LpQ8sVbT1zR4mN7cJ5h';
const KEY = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0B\n'.repeat(20)}-----END PRIVATE KEY-----`;
const { redactWords } = new KnownSecrets([SECRET, 'first line 1\nsecond 2 line']);

/** Sends the text through a stream in pieces cut at these positions, and reads after every piece. */
const through = (text: string, cuts: readonly number[], maxChars = 1_000_000): string => {
  const stream = new RedactStream(redactWords, maxChars);
  let out = '';
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    stream.push(text.slice(from, cut));
    from = Math.max(from, cut);
    out += stream.take();
  }
  stream.push(text.slice(from));
  return out + stream.take(true);
};

it('lets the same through in pieces as at once, and no piece of a secret', () => {
  const line = fc.constantFrom('plain', `key ${SECRET}.`, 'postgres://me:hunter2@db/x', KEY, 'password=hunter2', '');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(3000), { maxLength: 12 }), (lines, cuts) => {
      const text = `${lines.join('\n')}\n`;
      const out = through(
        text,
        cuts.map((cut) => Math.min(cut, text.length)),
      );
      expect(out).toBe(redactWords(text));
      for (let at = 0; at + 8 <= SECRET.length; at++) expect(out).not.toContain(SECRET.slice(at, at + 8));
      expect(out).not.toMatch(/hunter2|MIIE/);
    }),
  );
});

it('sees a secret in a line that never ends, wherever the line is let through', () => {
  for (let before = 7_900; before < 13_500; before += 13) {
    const out = through(`${'x'.repeat(before)}${SECRET}${'y'.repeat(20_000)}`, [
      before + 5,
      before + 9_000,
      before + 14_000,
    ]);
    expect(out).toBe(`${'x'.repeat(before)}***${'y'.repeat(20_000)}`);
  }
});

it('leaves out whole lines when more comes than is taken, never half a secret', () => {
  const stream = new RedactStream(redactWords, 10_000);
  for (let at = 0; at < 5_000; at++) stream.push(`line ${at} ${SECRET}\n`);
  const out = stream.take(true);
  expect(out.length).toBeLessThan(25_000);
  expect(out.startsWith('[… left out]\nline ')).toBe(true);
  expect(out.endsWith('line 4999 ***\n')).toBe(true);
  for (let at = 0; at + 8 <= SECRET.length; at++) expect(out).not.toContain(SECRET.slice(at, at + 8));
});
