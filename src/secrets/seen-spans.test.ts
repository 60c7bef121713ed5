import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastWords, shortText } from '../connections/short-text.ts';
import type { ToolDefinition } from '../core/types.ts';
import { shownLog } from '../engine/server-logs.ts';
import { firstSentence, oneLine, plainText, visible, visibly } from '../text/plain-text.ts';
import { maskCredentials, maskSecrets } from './credential-patterns.ts';
import { redactDefinitions, redactFailure } from './redact-data.ts';
import { RedactStream } from './redact-stream.ts';
import { KnownSecrets } from './redactor.ts';

const KEY = 'tokCANARYabcdefghij0123456789';
const WORDS = 'correct horse 9 battery';
const CREDENTIAL = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
const HIDDEN = [
  '\u200b',
  '\u00ad',
  '\u2800',
  '\u200d',
  '\ufe0f',
  '\u{e0041}',
  '\u0007',
  '\u009b',
  '\ud800',
  '\u001b[1m',
  '\u001b[38:5:1m',
  '\u001b(B',
  '\u001b]0;title\u0007',
  '\u001b]0;left open',
];
const MARKS = ['**', '`', '__', '\u200b**'];
const CLEANERS: readonly ((text: string) => string)[] = [
  (text) => plainText(text),
  (text) => oneLine(text, 10_000),
  (text) => firstSentence(text, 10_000),
  (text) => shownLog(text),
  (text) => String(visibly(text, 'description')),
];
const known = new KnownSecrets([KEY, WORDS]);

/** Puts text between the characters of a secret, but not where one of our words starts. */
const sprinkled = (secret: string, pieces: readonly string[]) =>
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: secret.length - 1 }), fc.constantFrom(...pieces)), {
      minLength: 1,
      maxLength: 12,
    })
    .map((all) =>
      all
        .toSorted(([a], [b]) => b - a)
        .reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at), secret),
    );

describe('a secret with invisible characters inside', () => {
  it('is not put together again by whatever cleans the text afterwards', () => {
    fc.assert(
      fc.property(
        fc.oneof(sprinkled(KEY, [...HIDDEN, ...MARKS]), sprinkled(WORDS, [...HIDDEN, ...MARKS])),
        fc.constantFrom('', 'é ', '\u001b]0;', '\u001b[', '\u200b', '# '),
        (secret, before) => {
          const text = `${before}Signed in with ${secret} today`;
          for (const redact of [known.redact, known.redactWords])
            for (const clean of CLEANERS)
              for (const shown of [clean(redact(text)), clean(redact.cut(text, text.length - 3))]) {
                expect(shown).not.toContain(KEY);
                expect(shown).not.toContain(WORDS);
              }
        },
      ),
    );
  });

  it('is known, too, where it only reads like a credential', () => {
    fc.assert(
      fc.property(sprinkled(CREDENTIAL, HIDDEN.slice(0, -1)), (secret) => {
        for (const mask of [known.redactWords, maskSecrets, maskCredentials])
          for (const clean of CLEANERS)
            expect(clean(mask(`bad key ${secret} there`))).not.toMatch(/ghp_[a-z]|klmn|6789/);
      }),
    );
    expect(plainText(maskSecrets('pw hunter2-\u001b[1mcorrect-horse', { MY_TOKEN: 'hunter2-correct-horse' }))).toBe(
      'pw ***',
    );
  });

  it('is masked in definitions, failures, short texts and last words', () => {
    const split = `tokCANARY\u001b[0m${KEY.slice(9)}`;
    const [tool] = finish(
      redactDefinitions(
        [{ name: 'x', description: `Uses ${split}`, inputSchema: { type: 'object' } } as ToolDefinition],
        known.redact,
      ),
    );
    expect(tool?.description).toBe('Uses ***');
    const failed = finish(
      redactFailure({ isError: true, content: [{ type: 'text', text: `bad ${split}` }] }, known.redactWords),
    );
    expect(failed.content?.[0]?.text).toBe('bad ***');
    expect(shortText(`bad ${split}`, known.redactWords)).toBe('bad ***');
    expect(lastWords(`Error: ${split}\n`, known.redactWords)).toBe('Error: ***');
    expect(visible(known.redact(`tok\u200b${KEY.slice(3)}`))).toBe('***');
  });

  it('is seen behind a cut, however much is hidden inside', () => {
    const secret = `correct${'\u200b'.repeat(20_000)}${WORDS.slice(7)}`;
    expect(known.redact.cut(`pw ${secret}`, 11)).toBe('pw ***');
    expect(known.redactWords.cut(`pw ${secret}`, 11)).toBe('pw ***');
    expect(maskCredentials(`ghp_abcdef${'\u200b'.repeat(20_000)}ghijklmnopq0123456789`, 8)).toBe('***');
  });

  it('is masked in a stream and in a long failure, whatever the pieces', () => {
    const secret = Array.from(WORDS).join('\u200b'.repeat(3_000));
    const stream = new RedactStream(known.redactWords, 1_000_000);
    let shown = '';
    for (let at = 0; at < secret.length; at += 5_000) {
      stream.push(secret.slice(at, at + 5_000));
      shown += stream.take();
    }
    expect(plainText(shown + stream.take(true))).toBe('***');
    const text = `${'x '.repeat(20_000)}${secret.repeat(3)} end`;
    const failed = finish(redactFailure({ isError: true, content: [{ type: 'text', text }] }, known.redactWords));
    expect(plainText(String(failed.content?.[0]?.text))).not.toContain(WORDS);
  });

  it('costs little in a text full of such signs', () => {
    const started = process.cpuUsage();
    for (const sign of ['\u200b', '\u001b[1m', '\u001b]', '`', ' \n']) {
      known.redactWords(sign.repeat(100_000));
      known.redactWords.cut(sign.repeat(1_000_000), 300);
      finish(
        redactFailure({ isError: true, content: [{ type: 'text', text: sign.repeat(500_000) }] }, known.redactWords),
      );
    }
    // Of the processor: other tests may run beside this one.
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(15_000);
  });
});

function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}
