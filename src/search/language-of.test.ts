import { describe, expect, it } from 'vitest';
import { PARAPHRASES } from '../../test/fixtures/search/paraphrases.ts';
import { languageOf } from './language-of.ts';
import { shippedTelltales } from './shipped.ts';

const language = (text: string): string | undefined => languageOf(text, shippedTelltales);

describe('the language of a request', () => {
  it.each([
    ['把这个文件发给我', 'zh'],
    ['このファイルを削除して', 'ja'],
    ['이 파일을 삭제해 줘', 'ko'],
    ['lösche diese Datei', 'de'],
    ['supprime ce fichier', 'fr'],
    ['borra este archivo', 'es'],
    ['apague este arquivo', 'pt'],
    ['elimina questa cartella', 'it'],
    ['удали этот файл', 'ru'],
    ['hapus semua berkas yang tidak terpakai', 'id'],
    ['bu dosyayı sil ve bana haber ver', 'tr'],
    ['احذف هذا الملف', 'ar'],
    ['इस फ़ाइल को हटाओ', 'hi'],
  ])('of %j is %s', (text, code) => {
    expect(language(text)).toBe(code);
  });

  it('is told by a single word that gives it away', () => {
    expect(language('Wettervorhersage Berlin')).toBe('de');
    expect(language('borrar sql-test')).toBe('es');
  });

  it('is Turkish for words with letters that only Turkish has', () => {
    expect(language('adresin koordinatlarını yakında bul')).toBe('tr');
    expect(language('weather in Diyarbakır')).toBeUndefined();
  });

  it('is English for English, for names and for values', () => {
    const english = [
      ...PARAPHRASES.map(([request]) => request),
      'create_issue',
      'github:create_issue',
      'checkout e2e checks switched off',
      'die casting suppliers',
      'information',
      '550e8400-e29b-41d4-a716-446655440000',
      '',
    ];
    expect(english.filter((text) => language(text) !== undefined)).toEqual([]);
  });
});
