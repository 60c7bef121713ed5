import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold, nameKey, tokenize } from './tokenizer.ts';

const words = (text: string): string[] => tokenize(text).map((word) => word.text);

describe('tokenize', () => {
  it.each([
    ['Create an issue', ['create', 'an', 'issue']],
    ['createIssue', ['create', 'issue', 'createissue']],
    ['create_issue', ['create', 'issue', 'createissue']],
    ['create-issue', ['create', 'issue', 'createissue']],
    ['HTTPServer', ['http', 'server', 'httpserver']],
    ['GitHub', ['git', 'hub', 'github']],
    ['base64', ['base', '64', 'base64']],
    ['s3', ['s3']],
    ['OAuth token', ['oauth', 'token']],
    ['list URLs and PRs', ['list', 'urls', 'and', 'prs']],
    ['Über Zürich', ['uber', 'zurich']],
    ['ＦＵＬＬ width', ['full', 'width']],
    ['удалитьФайл', ['удалить', 'фаил', 'удалитьфаил']],
    ['検索する', ['検索', '索す', 'する']],
    ['字', ['字']],
    ['使用bing搜索', ['使用', 'bing', '搜索']],
    ['', []],
    ['!!! --- ...', []],
  ])('splits %j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('marks what stands alone, what is a part and what is the whole identifier', () => {
    expect(tokenize('read fileName')).toEqual([
      { text: 'read', kind: 'whole' },
      { text: 'file', kind: 'part' },
      { text: 'name', kind: 'part' },
      { text: 'filename', kind: 'compound' },
    ]);
  });

  it('removes invisible characters and terminal escapes', () => {
    expect(words('de\u200ble\u202ete\u{e0041}')).toEqual(['delete']);
    expect(words('\x1b[31mred\x1b[0m \x1b]8;;http://evil\x07link')).toEqual(['red', 'link']);
    expect(fold('i\ufe0f')).toBe('i');
  });

  it('accepts any string and yields only lower-case words of bounded length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        for (const word of words(text)) {
          expect(word.length).toBeGreaterThan(0);
          expect(word.length).toBeLessThanOrEqual(160);
          expect(word).not.toMatch(/[\s\p{Cf}]/u);
        }
      }),
    );
  });

  it('stays linear on long runs', () => {
    for (const text of ['A'.repeat(100_000), 'aB'.repeat(50_000), '_'.repeat(100_000), 'a.'.repeat(50_000)]) {
      expect(words(text).length).toBeLessThan(100_001);
    }
  });
});

describe('nameKey', () => {
  it('is shared by all spellings of a name', () => {
    for (const spelling of ['create_issue', 'createIssue', 'Create Issue', 'CREATE-ISSUE', 'create.issue']) {
      expect(nameKey(spelling)).toBe('createissue');
    }
  });

  it('keeps names without letters apart', () => {
    expect(nameKey('???')).toBe('???');
    expect(nameKey('__')).toBe('__');
    expect(nameKey('__proto__')).toBe('proto');
  });
});
