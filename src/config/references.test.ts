import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import { expandReferences, lookUpReferences, referencesIn } from './references.ts';

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

  it('finds a reference after a brace that starts none', () => {
    expect(expandReferences('${x.y ${A}}', { A: '1' })).toBe('${x.y 1}');
  });

  it('names the missing variable and the place that needs it, and never a value', () => {
    const attempt = () => expandReferences('${HAVE}${WANT}', { HAVE: 'secret' }, 'server "github", env TOKEN');
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(/WANT is not set; server "github", env TOKEN needs it/);
    expect(attempt).not.toThrow(/secret/);
  });

  it('refuses references of other programs instead of sending them as text', () => {
    expect(() => expandReferences('${workspaceFolder:api}/x', {})).toThrow(/another program/);
    expect(() => expandReferences('${command:x}', {})).toThrow(/another program/);
    expect(() => expandReferences('${input:pat}', {})).toThrow(/another program/);
  });

  it('does not look variables up in the prototype', () => {
    expect(() => expandReferences('${constructor}', {})).toThrow(/constructor is not set/);
  });

  it('returns any text without references, in linear time', () => {
    fc.assert(fc.property(fc.string(), (text) => text.includes('${') || expandReferences(text, {}) === text));
    const started = performance.now();
    expandReferences('${A:-'.repeat(100_000), {});
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('expands a value exactly once', () => {
    fc.assert(fc.property(fc.string(), (value) => expandReferences('<${A}>', { A: value }) === `<${value}>`));
  });
});

describe('references to files', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'anygpt-references-'));
    writeFileSync(join(folder, 'token'), '  s3cret\n');
    writeFileSync(join(folder, '.env'), 'A=1\nB="two"\n');
    writeFileSync(join(folder, 'large'), 'x'.repeat(70_000));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are the content of the file, or a variable in it, read when they are expanded', () => {
    expect(expandReferences(`Bearer \${file:${folder}/token}`, {})).toBe('Bearer s3cret');
    expect(expandReferences('${file:~/token}', { HOME: folder })).toBe('s3cret');
    expect(expandReferences('${file:~/token}', { USERPROFILE: folder })).toBe('s3cret');
    expect(expandReferences(`\${envFile:${folder}/.env#B}`, {})).toBe('two');
  });

  it.each([
    ['${file:DIR/none}', /The file .*none was not found; server "x" needs it/],
    ['${file:DIR}', /is not a regular file/],
    ['${file:DIR/large}', /is larger than 64 KiB/],
    ['${file:DIR/token/x}', /cannot be read \(ENOTDIR\)/],
    ['${file:token}', /must be an absolute path or begin with ~\//],
    ['${envFile:DIR/.env#C}', /does not set C/],
  ])('that cannot be read say why: %s', (text, message) => {
    expect(() => expandReferences(text.replace('DIR', folder), {}, 'server "x"')).toThrow(message);
  });

  it('are told one by one as they are used', () => {
    const told: unknown[] = [];
    const text = `\${A}-\${B:-b}-\${file:${folder}/token}`;
    expect(expandReferences(text, { A: 'a' }, 'x', (value) => told.push(value))).toBe('a-b-s3cret');
    expect(told).toEqual([
      { value: 'a', variable: 'A' },
      { value: 'b', variable: 'B' },
      { value: 's3cret', variable: undefined },
    ]);
  });

  it('are known as secrets, as far as they can be read', () => {
    const text = `\${A} \${file:${folder}/token} \${file:/none} \${envFile:${folder}/.env#A} \${B} \${input:x}`;
    expect(lookUpReferences(text, { A: 'a' }).values.map(({ value }) => value)).toEqual(['a', 's3cret', '1']);
    expect(lookUpReferences('<${A}${B:-b}${C}>', { A: 'a' }).expanded).toBe('<ab>');
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
