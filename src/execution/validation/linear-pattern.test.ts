import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLinearPattern } from './linear-pattern.ts';
import { parsePattern } from './pattern-parser.ts';

describe('isLinearPattern', () => {
  test.each([
    '^[a-z]+$',
    '^[a-z0-9]+(-[a-z0-9]+)*$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^[A-Z]{2}[A-Z0-9]{9}\\d$',
    '^#[0-9a-fA-F]{6}$',
    '^[^/\\s]+/[^/\\s]+$',
    '^(?:open|closed)$',
    '^.*$',
    '^https?://',
    '^\\x41\\u0042[\\t\\-\\]b-d]$',
    '^a{0,1000}b$',
    'abc',
    '[0-9]{3}',
    '^a+?b$',
    '^(a|b|)c$',
  ])('%s is proven', (source) => {
    expect(isLinearPattern(source)).toBe(true);
  });

  test.each([
    '^(a+)+$',
    '^(a*)*$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '^(.*a){25}$',
    '^(a?){30}$',
    '^a?a?a?aaa$',
    '^(|a|)+$',
    '([a-z]+)*@',
    '[a-z]+@',
    '^.*\\.json$',
    '^(a{1,100}){1,100}$',
    '^(?=a)a$',
    '^(?<name>a)$',
    '(a)\\1',
    '\\bword\\b',
    '\\p{L}',
    '\\u{1F600}',
    '^a|b$',
    'a**',
    'a{2,1}',
    'a{x}',
    'a{1234567}',
    '[z-a]',
    '[\\w-z]',
    '(a',
    'a)',
    '[a',
    'a\\',
    '\\xZZ',
    '*a',
    '😀',
    'x'.repeat(2_000),
    '('.repeat(50) + ')'.repeat(50),
    '^(abcdefghij){1,200}$',
    `^(${Array.from({ length: 80 }, (_, i) => String.fromCharCode(0x4e00 + i)).join('|')})+$`,
  ])('%s is not proven', (source) => {
    expect(isLinearPattern(source)).toBe(false);
  });

  test('what is proven matches long hostile text in no time, whatever the pattern', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '[ab]',
      '[^b]',
      '.',
      '\\w',
      '\\d',
      '(a|b)',
      '(ab)',
      '(a+b)',
      '(a|ab)',
      '(b?a)',
    );
    const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{2,}', '+?');
    const sequence = fc
      .array(fc.tuple(atom, quantifier), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.map(([a, q]) => a + q).join(''));
    const group = fc.tuple(sequence, quantifier).map(([s, q]) => `(${s})${q}`);
    const pattern = fc
      .tuple(
        fc.constantFrom('^', ''),
        fc.oneof(
          sequence,
          group,
          fc.tuple(group, sequence).map((p) => p.join('')),
        ),
        fc.constantFrom('$', ''),
      )
      .map((parts) => parts.join(''));
    const texts = ['a'.repeat(20_000), 'b'.repeat(20_000), 'ab'.repeat(10_000), 'a1'.repeat(10_000)].map(
      (t) => `${t}!\n`,
    );
    let proven = 0;
    fc.assert(
      fc.property(pattern, (source) => {
        if (!isLinearPattern(source)) return;
        proven++;
        const expression = new RegExp(source, 'u');
        const time = () => {
          const started = performance.now();
          for (const text of texts) expression.test(text);
          return performance.now() - started;
        };
        // The smallest quadratic case takes 200 million steps here, several hundred ms at least.
        expect(Math.min(time(), time())).toBeLessThan(1_000);
      }),
      { numRuns: 1_500 },
    );
    expect(proven).toBeGreaterThan(100);
  });

  test('the parser never throws and never takes long', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ maxLength: 60 }), fc.stringMatching(/^[a-c()[\]|*+?{},\\^$.0-9-]{0,40}$/)),
        (source) => {
          const parsed = parsePattern(source);
          if (parsed !== undefined) expect(() => new RegExp(source)).not.toThrow();
          isLinearPattern(source);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
