import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstSentence, oneLine, plainName, plainText, replaceUnseen } from './plain-text.ts';

const NASTY = [
  '\u001b[31m',
  '\u001b]0;title\u0007',
  '\u001b',
  '\u009b',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u{e0041}',
  '\ue000',
  '\u{f0000}',
  '\u{10fffd}',
  '\ufe01',
  '\u2028',
  '\u0085',
  '\ud800',
  '\u0000',
  '\r',
  '\n',
  '\t',
  'é',
  '👩‍👩‍👧',
  '❤️',
  'שלום',
  'a',
  ' ',
];
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(...NASTY), { maxLength: 60 }).map((parts) => parts.join('')),
);
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e0fff}\p{Co}]/u;

describe('plainText', () => {
  it('leaves no control, bidi, tag or private-use character, whatever comes', () => {
    fc.assert(fc.property(text, (input) => void expect(plainText(input)).not.toMatch(FORBIDDEN)));
  });

  it('changes nothing the second time, and stays within its length', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 80 }), (input, max) => {
        for (const clean of [plainText, oneLine]) {
          const once = clean(input, max);
          expect(clean(once, max)).toBe(once);
          expect(once.length).toBeLessThanOrEqual(max);
          expect(once).not.toMatch(/\p{Surrogate}/u);
        }
      }),
    );
  });

  it('keeps emoji, right-to-left languages and line breaks', () => {
    expect(plainText('👩‍👩‍👧 ❤️ שלום مرحبا\nnext')).toBe('👩‍👩‍👧 ❤️ שלום مرحبا\nnext');
    expect(plainText('one\u2028two\u0085three')).toBe('one\ntwo\nthree');
  });

  it('takes out every sign that shows nothing, and JSON documents know the same ones', () => {
    const signs = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const sign = String.fromCodePoint(code);
      if (/\p{Default_Ignorable_Code_Point}/u.test(sign)) signs.push(sign);
    }
    signs.push('\u2800', '\ufff9', '\ufffb', '\u{13430}', '\u{16fe4}', '\u{1d159}', '\uffff', '\u0007', '\u009b');
    expect(signs.length).toBeGreaterThan(4_000);
    expect(signs.filter((sign) => plainText(`a${sign}b`) !== 'ab')).toEqual([]);
    expect(signs.filter((sign) => plainName(`delete_${sign}all${sign}`) !== 'delete_all')).toEqual([]);
    expect(signs.filter((sign) => replaceUnseen(`a${sign}b`, () => '?') !== 'a?b')).toEqual([]);
  });

  it('reads a text as it reads its lines: a sequence that is left open ends with its line', () => {
    expect(plainText('a\u001b]0;title\nb')).toBe('a\nb');
    expect(plainText('\u001b(Ba\u001b7b\u001b[38:5:1mc\u001b[>4;2md')).toBe('abcd');
  });

  it('removes whole terminal sequences, not only their first byte', () => {
    expect(plainText('a\u001b[1;31mred\u001b[0m b\u001b]8;;http://x\u0007c')).toBe('ared bc');
  });

  it('reads a text of megabytes in no time', () => {
    const started = performance.now();
    plainText('\u001b['.repeat(1_000_000), 100);
    plainText('\u001b]'.repeat(100_000));
    oneLine(' \n'.repeat(1_000_000), 100);
    firstSentence('#'.repeat(1_000_000));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('oneLine', () => {
  it('folds white space and cuts between characters', () => {
    expect(oneLine('  a \n\t b  ', 10)).toBe('a b');
    expect(oneLine('ab😀cd', 4)).toBe('ab…');
    expect(oneLine('abc', 0)).toBe('');
  });
});

describe('firstSentence', () => {
  it.each([
    ['Reads a file. Then more.', 'Reads a file'],
    ['# Reads **a** `file`\n\nMore text', 'Reads a file'],
    ['Converts units, e.g. miles to km. Exact.', 'Converts units, e.g. miles to km'],
    ['Two lines\nof one sentence. End', 'Two lines of one sentence'],
    ['Title:\n- a list', 'Title'],
    ['読む。次', '読む。次'],
    ['', ''],
  ])('%j is summed up as %j', (description, summary) => {
    expect(firstSentence(description)).toBe(summary);
  });

  it('cuts a long one at a word', () => {
    const cut = firstSentence('word '.repeat(50));
    expect(cut.length).toBeLessThanOrEqual(100);
    expect(cut).toMatch(/word…$/);
    expect(firstSentence('x'.repeat(300))).toBe(`${'x'.repeat(99)}…`);
  });

  it('is bounded whatever comes', () => {
    fc.assert(fc.property(text, (input) => void expect(firstSentence(input).length).toBeLessThanOrEqual(101)));
  });
});
