import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANGUAGES, type Language } from './language-of.ts';
import { shippedWords } from './shipped.ts';
import { translate } from './translation.ts';

const english = (text: string, language: Language): string => translate(text, language, shippedWords(language)).text;

describe('a request in another language', () => {
  it.each<[Language, string, string]>([
    ['de', 'lösche die alte Rechnung', 'delete old invoice'],
    ['fr', "le lien de l'adresse", 'link address'],
    ['es', 'base de datos de clientes', 'database customer'],
    ['zh', '删除这个分支', 'delete branch'],
    ['ja', 'ファイルをコピーして', 'file copy'],
    ['ko', '파일을 삭제해 줘', 'file delete give'],
  ])('is put into English word by word: %s %j', (language, text, expected) => {
    expect(english(text, language)).toBe(expected);
  });

  it('keeps values, names and what it does not know', () => {
    expect(english('lösche "alte Datei" aus <ordner_name> von Kunigunde', 'de')).toBe(
      'delete "alte Datei" <ordner_name> Kunigunde',
    );
    expect(english('把 report_final.pdf 发给 bob@example.com', 'zh')).toBe('report_final.pdf send bob@example.com');
  });

  it('never fails, whatever it is asked', () => {
    fc.assert(
      fc.property(fc.constantFrom(...LANGUAGES), fc.string({ unit: 'grapheme', maxLength: 200 }), (language, text) => {
        expect(typeof english(text, language)).toBe('string');
      }),
    );
  });
});
