import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import { compileGlob } from './glob.ts';

const match = (pattern: string, text: string): boolean => compileGlob(pattern)(text);

describe('a glob', () => {
  test.each([
    ['create_issue', 'create_issue', true],
    ['create_issue', 'create_issue2', false],
    ['Create', 'create', false],
    ['*', '', true],
    ['*', 'a/b_c', true],
    ['*github*', 'x_github_y', true],
    ['github_*', 'my_github_x', false],
    ['*_issue', 'create_issue', true],
    ['a*b*c', 'aXbXbYc', true],
    ['a*b*c', 'aXbXbY', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a😀c', true],
    ['a??c', 'a😀c', false],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['[!a-c]x', 'dx', true],
    ['[^a-c]x', 'ax', false],
    ['[]]', ']', true],
    ['[a-]', '-', true],
    ['[\\]]', ']', true],
    ['[ab', '[ab', true],
    ['{get,list}_*', 'list_x', true],
    ['{get,list}_*', 'put_x', false],
    ['a{b,{c,d}e}f', 'adef', true],
    ['a{b,{c,d}e}f', 'adf', false],
    ['x{,y}', 'x', true],
    ['{a}', '{a}', true],
    ['{a,b', '{a,b', true],
    ['{{a,b}', '{b', true],
    ['a,b}', 'a,b}', true],
    ['[{,}]x', ',x', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['a\\', 'a\\', true],
    ['', '', true],
    ['', 'a', false],
    ['__proto__', '__proto__', true],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(match(pattern, text)).toBe(expected);
  });

  test('that stands for too many alternatives, is too deep or too long is refused', () => {
    expect(() => compileGlob('{a,b}'.repeat(7))).toThrow(ConfigurationError);
    expect(() => compileGlob(`${'{a,'.repeat(21)}b${'}'.repeat(21)}`)).toThrow(/deep/);
    expect(() => compileGlob('a'.repeat(1_001))).toThrow(/longer/);
    expect(() => compileGlob('[z-a]')).toThrow(/backwards/);
    expect(() => compileGlob(`{a,b}{a,b}{a,b}{a,b}{a,b}${'x'.repeat(900)}`)).toThrow(ConfigurationError);
  });

  test('made to backtrack answers at once', () => {
    const started = performance.now();
    expect(match(`${'a*'.repeat(400)}b`, 'a'.repeat(10_000))).toBe(false);
    expect(match('{'.repeat(1_000), '{'.repeat(1_000))).toBe(true);
    expect(match('['.repeat(1_000), '['.repeat(1_000))).toBe(true);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

/** A plain recursive matcher for the same syntax, without classes, braces and escapes. */
function reference(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern.startsWith('*')) {
    return reference(pattern.slice(1), text) || (text !== '' && reference(pattern, text.slice(1)));
  }
  if (text === '') return false;
  return (pattern[0] === '?' || pattern[0] === text[0]) && reference(pattern.slice(1), text.slice(1));
}

describe('for any input', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 10 });

  test('a glob of stars and question marks equals the naive reference', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, letters, (glob, text) => match(glob, text) === reference(glob, text)),
      {
        numRuns: 2_000,
      },
    );
  });

  test('braces equal the alternatives written out', () => {
    const parts = fc.array(letters, { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(letters, parts, letters, letters, (head, choices, tail, text) => {
        const written = choices.some((choice) => match(`${head}${choice}${tail}`, text));
        return match(`${head}{${choices.join(',')}}${tail}`, text) === written;
      }),
    );
  });

  test('nothing but ConfigurationError is ever thrown', () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.string({ unit: fc.constantFrom(...'{},[]!^-\\*?ab'), maxLength: 60 }),
    );
    fc.assert(
      fc.property(nasty, fc.string({ unit: 'binary' }), (glob, text) => {
        try {
          return typeof match(glob, text) === 'boolean';
        } catch (error) {
          return error instanceof ConfigurationError;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('an escaped name matches itself and only itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, other) => {
        const glob = Array.from(name, (char) => `\\${char}`).join('');
        return match(glob, name) && match(glob, other) === (name === other);
      }),
    );
  });
});
