import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../errors.ts';
import { expandReferences, referencesIn } from './references.ts';

describe('expandReferences', () => {
  it('replaces a reference by the variable', () => {
    expect(expandReferences('Bearer ${TOKEN}!', { TOKEN: 'abc' })).toBe('Bearer abc!');
  });

  it('understands the spelling of Windsurf and Cursor', () => {
    expect(expandReferences('${env:TOKEN}', { TOKEN: 'abc' })).toBe('abc');
  });

  it('takes the default when the variable is unset or empty', () => {
    expect(expandReferences('${A:-x}${B:-y}${C:-z}', { A: '1', B: '' })).toBe('1yz');
    expect(expandReferences('${A:-}', {})).toBe('');
  });

  it('keeps an empty variable where there is no default', () => {
    expect(expandReferences('[${A}]', { A: '' })).toBe('[]');
  });

  it('leaves an escaped reference and other text in braces alone', () => {
    expect(expandReferences('$${A} ${a.b} ${ A } ${} $A {A} ${', { A: '1' })).toBe('${A} ${a.b} ${ A } ${} $A {A} ${');
  });

  it('finds a reference behind a brace that is none', () => {
    expect(expandReferences('${x.y ${A}}', { A: '1' })).toBe('${x.y 1}');
  });

  it('names the missing variable and the place that needs it, and never a value', () => {
    const attempt = () => expandReferences('${HAVE}${WANT}', { HAVE: 'secret' }, 'server "github", env TOKEN');
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(/WANT is not set; server "github", env TOKEN needs it/);
    expect(attempt).not.toThrow(/secret/);
  });

  it('refuses references of other programs instead of sending them as text', () => {
    expect(() => expandReferences('${file:~/.token}', {})).toThrow(/another program/);
    expect(() => expandReferences('${input:pat}', {})).toThrow(/another program/);
  });

  it('does not look variables up in the prototype', () => {
    expect(() => expandReferences('${constructor}', {})).toThrow(/constructor is not set/);
  });

  it('gives back any text without references, in linear time', () => {
    fc.assert(fc.property(fc.string(), (text) => text.includes('${') || expandReferences(text, {}) === text));
    const started = performance.now();
    expandReferences('${A:-'.repeat(100_000), {});
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('expands a value exactly once', () => {
    fc.assert(fc.property(fc.string(), (value) => expandReferences('<${A}>', { A: value }) === `<${value}>`));
  });
});

describe('referencesIn', () => {
  it('lists names and defaults in order', () => {
    expect(referencesIn('${A} $${B} ${C:-d} ${file:x}')).toEqual([
      { name: 'A', fallback: undefined },
      { name: 'C', fallback: 'd' },
    ]);
  });
});
