import { describe, expect, it } from 'vitest';
import { Telltales } from './telltales.ts';

describe('words that give a language away', () => {
  const telltales = new Telltales('abend\tde\narchivo\tes\nconta\tpt it\nzug\tde xx\n');

  it.each([
    ['abend', ['de']],
    ['archivo', ['es']],
    ['conta', ['pt', 'it']],
    ['zug', ['de']],
    ['aaa', []],
    ['b', []],
    ['zzz', []],
    ['', []],
  ])('%j is of %j', (word, languages) => {
    expect(telltales.languagesOf(word)).toEqual(languages);
  });

  it('are none if the list is missing', () => {
    expect(new Telltales('').languagesOf('abend')).toEqual([]);
  });
});
