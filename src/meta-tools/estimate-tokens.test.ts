import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from './estimate-tokens.ts';

const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });
const letters = (signs: string, length: number) =>
  fc.string({ unit: fc.constantFrom(...signs), minLength: length, maxLength: length });
const between = (from: number, to: number) =>
  fc.string({ unit: fc.integer({ min: from, max: to }).map((code) => String.fromCodePoint(code)), maxLength: 12 });

/** Very odd names, by kind; lists in real answers are of one kind or mixed. */
const NAMES = {
  words: fc
    .array(fc.constantFrom('get', 'list', 'create', 'issue', 'user', 'file'), { maxLength: 4 })
    .map((w) => w.join('_')),
  'random letters': letters('abcdefghijklmnopqrstuvwxyz', 12),
  'mixed case': letters('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', 12),
  base64: letters('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/', 24),
  uuids: fc.uuid(),
  punctuation: letters('!#$%&()*+-./;<=>?@^_|~', 10),
  Latin: between(0xa1, 0x17f),
  Cyrillic: between(0x410, 0x44f),
  Greek: between(0x370, 0x3ff),
  Devanagari: between(0x905, 0x970),
  Han: between(0x4e00, 0x9fff),
  kana: between(0x3041, 0x30ff),
  Hangul: between(0xac00, 0xd7a3),
  emoji: between(0x1f300, 0x1f6ff),
  'rare scripts': between(0x10000, 0x10500),
};

describe('estimateTokens', () => {
  it.each(Object.entries(NAMES))('is not below the real count for lists of %s', (_kind, name) => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 40, maxLength: 80 }), (names) => {
        const text = JSON.stringify({ server: 'x', tools: names.map((name) => ({ name })) });
        return count(text) <= estimateTokens(text);
      }),
      { numRuns: 20 },
    );
  });

  it('is not wildly above the real count for prose', () => {
    const prose =
      'Create a new issue in a repository and assign it to somebody. Returns the number of the issue. '.repeat(10);
    expect(estimateTokens(prose)).toBeLessThan(2.5 * count(prose));
  });

  it('costs nothing for nothing', () => {
    expect(estimateTokens('')).toBe(0);
  });
});
