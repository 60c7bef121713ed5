import { describe, expect, it } from 'vitest';
import { ForeignWords } from './foreign-words.ts';

const list = new ForeignWords(
  'kalender\tcalendar\neintrag\tentry\nloschen\tdelete|clear:0.4\nbase de donnees\tdatabase\nno tab here\n',
  'de',
);
const english = (word: string): string[] | undefined => list.find(word)?.map((meant) => meant.word);

describe('a list of foreign words', () => {
  it('says what a word is in English, and how much each meaning counts', () => {
    expect(list.get('loschen')).toEqual([
      { word: 'delete', share: 1 },
      { word: 'clear', share: 0.4 },
    ]);
  });

  it('finds a word with another ending', () => {
    expect(english('kalendern')).toEqual(['calendar']);
    expect(english('loschst')).toEqual(['delete', 'clear']);
  });

  it('finds the halves of a compound', () => {
    expect(english('kalendereintrag')).toEqual(['calendar', 'entry']);
  });

  it('finds nothing for a word that only begins like another', () => {
    expect(english('kale')).toBeUndefined();
    expect(english('eintonig')).toBeUndefined();
    expect(english('constructor')).toBeUndefined();
  });

  it.each([
    ['ar', 'مرفق\tattachment', 'والمرفقات'],
    ['ar', 'مرفقات\tattachment', 'بالمرفق'],
    ['ar', 'أرسل\tsend', 'ارسلوا'],
    ['ar', 'صفحة\tpage', 'للصفحات'],
    ['ar', 'حذف\tdelete', 'يحذفون'],
    ['ar', 'سَجِّل\tlog', 'سجل'],
    ['hi', 'ग्राहक\tcustomer', 'ग्राहकों'],
    ['hi', 'बनाना\tcreate', 'बनाइए'],
    ['hi', 'कमरा\troom', 'कमरे'],
    ['hi', 'फ़ाइल\tfile', 'फाइलें'],
  ] as const)('finds a word of %s in another form: %j is of %j', (language, entry, word) => {
    const [, meaning] = entry.split('\t');
    expect(new ForeignWords(entry, language).find(word)).toEqual([{ word: meaning, share: 1 }]);
  });

  it('takes a word as it is before one that only shares a form with it', () => {
    const words = new ForeignWords('كتب\tbooks\nكتاب\tbook\n', 'ar');
    expect(words.find('الكتاب')).toEqual([{ word: 'book', share: 1 }]);
    expect(words.find('سيارة')).toBeUndefined();
  });

  it('looks no further than the list for a word that nobody writes', () => {
    expect(english(`kalender${'x'.repeat(5_000)}`)).toBeUndefined();
  });
});
