import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellWord } from './shell-word.ts';

describe('a word for a shell', () => {
  it('stays as it is when it is plain', () => {
    expect(shellWord('/home/me/a-b_c.json')).toBe('/home/me/a-b_c.json');
    expect(shellWord('/home/my files/x.json')).toBe("'/home/my files/x.json'");
    expect(shellWord('C:\\my files\\x.json')).toBe('"C:\\my files\\x.json"');
    expect(shellWord('')).toBe("''");
    expect(shellWord('\\\\$(id)')).toBe("'\\\\$(id)'");
  });

  it.runIf(process.platform !== 'win32')('is one word to the shell, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }).map((text) => `/${text.replaceAll('\0', '')}`)), (words) => {
        const script = `printf '%s\\0' ${words.map(shellWord).join(' ')}`;
        const out = execFileSync('/bin/sh', ['-c', words.length === 0 ? 'true' : script], { encoding: 'utf8' });
        expect(out.split('\0').slice(0, -1)).toEqual(words);
      }),
      { numRuns: 30 },
    );
  });
});
