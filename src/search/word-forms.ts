/**
 * Reduces words of Arabic and Hindi to what their forms share: `والمرفقات` and `مرفق` are forms of one word. Both write articles,
 * cases and persons as letters of the word, at its beginning or its end.
 * @module
 */
import type { Language } from './language-of.ts';

/** Returns what a word shares with its other forms, the surest first; none in a language whose endings need no such rule. */
export function sharedForms(language: Language, word: string): readonly string[] {
  if (language === 'ar') return arabicForms(word);
  if (language === 'hi') return [...new Set([hindiForm(word), hindiForm(hindiForm(word))])];
  return [];
}

/** Vowel signs, the lengthening stroke, and letters that are written in several ways. */
const plainArabic = (word: string): string =>
  word
    .replace(/[\u064b-\u0655\u0670\u0640]/g, '')
    .replace(/[أإآٱ]/g, 'ا')
    .replace(/ى/g, 'ي')
    .replace(/[ؤئ]/g, 'ء');

/** `and`, `so`, then `with`, `as`, `for`, then the article; with the article they are hardly ever letters of the word. */
const ARABIC_ARTICLE = /^[وف]?(?:[بكل]?ال|لل)(?=..)/;
const ARABIC_PREFIX = /^[وفبكلس](?=...)/;
const ARABIC_ENDING = /(?<=...)(?:ها|هم|نا|كم|ات|ون|ين|ان|ية|وا|ني|ه|ة|ي|ك|ا)$/;
const ARABIC_PERSON = /^[ايتن](?=...)/;

function arabicForms(word: string): readonly string[] {
  const plain = plainArabic(word);
  const bare = plain.replace(ARABIC_ARTICLE, '');
  const short = bare.replace(ARABIC_ENDING, '').replace(ARABIC_ENDING, '');
  const further = bare === plain ? [plain.replace(ARABIC_PREFIX, ''), plain.replace(ARABIC_PERSON, '')] : [];
  return [...new Set([plain, bare, short, ...further.flatMap((form) => [form, form.replace(ARABIC_ENDING, '')])])];
}

/** Cases, persons, tenses and polite forms, the longest first. */
const HINDI_ENDING =
  /(?<=..)(?:ाइयों|ाइयाँ|ाएगा|ाएगी|ाओगे|ाइए|ाकर|ाऊं|ाने|ाना|ानी|ाते|ाता|ाती|ाया|ाओं|ाएं|ाएँ|ाओ|ाई|ाए|ियों|ियां|ियाँ|िए|िये|इए|ेगा|ेगी|ेंगे|कर|ने|ना|नी|ते|ता|ती|ुओं|ुएं|ओं|एं|एँ|ओ|ों|ें|ीं|ां|ाँ|ो|े|ी|ि|ा|ू|ु)$/;

/** The dot below, and the two ways to write a nasal and an open o. */
const hindiForm = (word: string): string =>
  word
    .replace(/\u093c/g, '')
    .replace(/ँ/g, 'ं')
    .replace(/ॉ/g, 'ा')
    .replace(HINDI_ENDING, '');
