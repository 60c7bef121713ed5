import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonc } from './parse-jsonc.ts';
import { TextSyntaxError } from './text-syntax-error.ts';

const mistake = (text: string): TextSyntaxError => {
  try {
    parseJsonc(text);
  } catch (error) {
    if (error instanceof TextSyntaxError) return error;
    throw error;
  }
  throw new Error(`no mistake was found in ${text}`);
};

describe('parseJsonc', () => {
  it('reads what JSON.parse reads, in the same way', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 0, max: 4 }), (json, indent) => {
        expect(parseJsonc(JSON.stringify(JSON.parse(json), null, indent))).toEqual(JSON.parse(json));
      }),
    );
  });

  it('refuses what JSON.parse refuses, apart from comments and trailing commas', () => {
    const text = fc.string({ unit: fc.constantFrom(...'{}[]:"1-.e+0tfalsn\\u '.split('')), maxLength: 12 });
    fc.assert(
      fc.property(text, (candidate) => {
        let strict: unknown;
        try {
          strict = JSON.parse(candidate);
        } catch {
          expect(() => parseJsonc(candidate)).toThrow(TextSyntaxError);
          return;
        }
        let repeated = false;
        expect(parseJsonc(candidate, () => (repeated = true))).toEqual(strict);
        if (repeated) expect(() => parseJsonc(candidate)).toThrow(TextSyntaxError);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws anything but its own error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseJsonc(text);
        } catch (error) {
          expect(error).toBeInstanceOf(TextSyntaxError);
        }
      }),
    );
  });

  it('tolerates comments, trailing commas and a byte order mark', () => {
    const text = '\ufeff// top\n{ /* a */ "a": [1, 2, /* b */], "url": "http://x//y", // end\n}\n// last';
    expect(parseJsonc(text)).toEqual({ a: [1, 2], url: 'http://x//y' });
  });

  it.each([
    ['{"a": 1,\n "b" 2}', 2, 6, 'expected :'],
    ['{"a": tru}', 1, 7, 'expected a value'],
    ['{"a": 1', 1, 8, 'expected , or }, but the file ends'],
    ["{'a': 1}", 1, 2, 'a key in double quotes'],
    ['[1 2]', 1, 4, 'expected , or ]'],
    ['{} x', 1, 4, 'expected the end of the file'],
    ['"a\nb"', 1, 1, 'to end on the same line'],
    ['"abc', 1, 1, 'string that starts here to end'],
    ['"\\x"', 1, 1, 'valid escapes'],
    ['/* never', 1, 1, 'comment that starts here'],
    ['/x', 1, 1, 'expected a value'],
    ['{"a": 1, "a": 2}', 1, 10, 'written twice'],
    ['', 1, 1, 'expected a value, but the file ends'],
  ])('says where the mistake in %j is', (text, line, column, words) => {
    const error = mistake(text);
    expect([error.line, error.column]).toEqual([line, column]);
    expect(error.message).toContain(words);
  });

  it('lets the last of two equal keys count when the caller wants to know', () => {
    const seen: unknown[] = [];
    expect(parseJsonc('{"a": 1,\n"a": 2}', (key, line) => seen.push([key, line]))).toEqual({ a: 2 });
    expect(seen).toEqual([['a', 2]]);
  });

  it('keeps __proto__ as a key like any other', () => {
    const value = parseJsonc('{"__proto__": {"polluted": true}, "constructor": 1}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('bounds nesting', () => {
    expect(mistake('['.repeat(100_000)).message).toContain('at most 200 levels');
  });
});
