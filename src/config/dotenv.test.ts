import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDotenv } from './dotenv.ts';

describe('parseDotenv', () => {
  it('reads names, quotes, comments and export', () => {
    const text = [
      '# comment',
      'A=1',
      'export B = "two words" # why',
      "C='single $X'",
      'D=a # comment',
      'E=a#b',
      'F="line\\nbreak"',
      'G="open',
      'H=',
      'A=last',
      'no variable',
      '1X=no',
      '=no',
    ].join('\r\n');
    expect(Object.fromEntries(parseDotenv(text))).toEqual({
      A: 'last',
      B: 'two words',
      C: 'single $X',
      D: 'a',
      E: 'a#b',
      F: 'line\nbreak',
      G: '"open',
      H: '',
    });
  });

  it('takes any text', () => {
    fc.assert(fc.property(fc.string(), (text) => parseDotenv(text).size >= 0));
  });
});
