/**
 * Tells which language a request is in, if it is not English: by its script, or by its small words and those that give a
 * language away. A request of names, values and a few English words is English.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isStopWord } from './stop-words.ts';
import { fold } from './tokenizer.ts';

/** How words are written in the lists. */
export const foldedWord = (text: string): string => fold(text).toLowerCase();

/** The languages whose words are translated. */
export const LANGUAGES = ['zh', 'ja', 'ko', 'de', 'fr', 'es', 'pt', 'it', 'ru', 'id', 'tr', 'ar', 'hi'] as const;

/** One of them, by its ISO 639 code. */
export type Language = (typeof LANGUAGES)[number];

/** Whether a text is the code of one of them. */
export const isLanguage = (code: string): code is Language => (LANGUAGES as readonly string[]).includes(code);

/** Languages that their script gives away, the surest first: Japanese is written with Chinese characters, too. */
const SCRIPTS: readonly (readonly [Language, RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['ko', /\p{Script=Hangul}/u],
  ['zh', /\p{Script=Han}/u],
  ['ru', /\p{Script=Cyrillic}{2}/u],
  ['ar', /\p{Script=Arabic}{2}/u],
  ['hi', /\p{Script=Devanagari}{2}/u],
];

/**
 * Small words, folded. One alone decides nothing: some are English words, too. Those of a language with its own script are never
 * needed to tell it; they are only left out of the search.
 */
const SMALL_WORDS: Partial<Readonly<Record<Language, string>>> = {
  de:
    'der die das dem den ein eine einen einem einer eines und oder aber nicht kein keine ist sind wird werden wurde wie wo wer welche ' +
    'welcher welches wann warum mir mich mein meine meinen meiner meinem dein deine unser unsere ich du wir ihr sie mit von vom zu ' +
    'zum zur auf fur aus bei beim nach uber unter zwischen durch gegen ohne im als auch noch nur schon bitte mal es gibt kann kannst ' +
    'konnen mochte will soll alle alles diese dieser dieses diesen dass damit hier jetzt gerade sich namens wieder brauchen',
  fr:
    'le la les un une des du de et ou mais ne pas est sont ce cette ces cet mon ma mes ton notre nos votre vos leur je tu il elle ' +
    'nous vous ils avec dans sur sous pour par entre chez sans vers aux au qui que quoi quel quelle quels quelles comment pourquoi ' +
    'quand moi toi lui tous toutes tout y en veux voudrais peux dois faut plus svp avez qu est-ce cela se sa ses son jusque depuis',
  es:
    'el la los las un una unos unas de del y o pero no es son este esta estos estas ese esa mi mis tu tus su sus nuestro nuestra yo ' +
    'me te se nos con en sobre para por entre sin hacia desde hasta al que quien cual cuales como cuando donde porque cuanto cuantos ' +
    'hay esta estan quiero necesito puedes favor todos todas todo lo le les mas muy ya tambien hace falta ser',
  pt:
    'o os as um uma uns umas de do da dos das e ou mas nao sao este esta estes estas esse essa meu minha meus minhas seu sua seus ' +
    'suas nosso nossa eu ele ela nos com em no na nos nas sobre para por entre sem ate desde ao aos pelo pela que quem qual quais ' +
    'como quando onde porque quanto quantos ha esta estao quero preciso pode todos todas tudo se mais muito ja tambem voce foi isso',
  it:
    'il lo la i gli le un una uno di del dello della dei degli delle e ed o ma non sono questo questa questi queste quello mio mia ' +
    'miei mie tuo tua suo sua nostro nostra io tu lui lei noi con nel nello nella nei nelle in su sul sulla per tra fra senza da dal ' +
    'dalla al allo alla ai agli alle che chi quale quali come quando dove perche quanto quanti mi ti si ci vi voglio vorrei puoi ' +
    'tutti tutte tutto ogni piu molto gia anche serve devo stai c ha e',
  id:
    'yang dan atau tetapi tidak ini itu di ke dari untuk dengan pada dalam oleh saya aku kamu anda kami kita dia mereka apa siapa ' +
    'mana kapan bagaimana mengapa berapa adalah ada akan sudah bisa tolong semua sebuah satu lagi saja juga agar',
  tr:
    've veya ama degil bu su bir icin ile ne kim hangi nasil neden nerede kac mi mu benim bana beni senin sana bize bizim tum butun ' +
    'her olan olarak var yok lutfen da de ki gibi daha cok en sonra once kadar icinde uzerinde hakkinda ait',
  ru:
    'и или но не в во на по с со к ко у о об от до из за для при без под над между через это этот эта эти тот что чтобы как где когда кто ' +
    'я мне меня мой моя мои мое ты вы он она они мы нам нас наш наша наши его ее их все всех есть был была будет же ли бы пожалуйста',
  ar:
    'و أو ثم لا لم لن ما هل في من إلى على عن مع حول بين عند بعد قبل هذا هذه ذلك تلك الذي التي هو هي هم أنا نحن كل إن أن كان كانت كم أين متى ' +
    'كيف لماذا قد لي لنا له لها فيه فيها منه منها يا رجاء',
  hi:
    'का की के को में से पर ने तक और या कि जो यह वह ये वे इस उस इन उन है हैं था थी थे हो होना रहा रही रहे गया गई गए कर करो करना करें करके कीजिए मैं मुझे ' +
    'मेरा मेरी मेरे हम हमें हमारा हमारी हमारे आप अपना अपनी अपने क्या कौन कब कहां कैसे क्यों कितना कितनी कितने लिए साथ बारे भी ही तो न नहीं कृपया सी',
};

const SMALL: ReadonlyMap<Language, ReadonlySet<string>> = new Map(
  Object.entries(SMALL_WORDS).map(([language, words]) => [language as Language, new Set(words.split(' '))]),
);

/** Whether a folded lower-case word of a language carries no meaning of its own. */
export const isSmallWord = (language: Language, word: string): boolean => SMALL.get(language)?.has(word) === true;

/** Letters that only Turkish has. A word with one counts no more than a small word, because names have them, too. */
const TURKISH = /[ığİ]/;

/** What a word says for a language: a small word, one that English has too, and one that gives it away. */
const SMALL_WORD = 1;
const SHARED_WORD = 0.5;
const TELLTALE = 1.5;

/** Returns the language of a request; undefined for English and for what cannot be told. `told` knows words that give one away. */
export function languageOf(text: string, told: (word: string) => readonly Language[]): Language | undefined {
  const script = SCRIPTS.find(([, pattern]) => pattern.test(text));
  if (script !== undefined) return script[0];
  // A letter alone is no word of any language here: `e2e` has two.
  const words = (foldedWord(text).match(/\p{L}{2,}/gu) ?? []).slice(0, LIMITS.search.terms);
  const english = words.filter(isStopWord).length;
  const scores = new Map<Language, number>();
  const add = (language: Language, points: number): void => {
    scores.set(language, (scores.get(language) ?? 0) + points);
  };
  for (const word of words) {
    for (const language of SMALL.keys())
      if (isSmallWord(language, word)) add(language, isStopWord(word) ? SHARED_WORD : SMALL_WORD);
    for (const language of told(word)) add(language, TELLTALE);
  }
  const turkish = (text.match(/\p{L}{2,}/gu) ?? []).slice(0, LIMITS.search.terms).filter((word) => TURKISH.test(word));
  if (turkish.length > 0) add('tr', SMALL_WORD * turkish.length);
  const [best] = [...scores].sort(([, a], [, b]) => b - a);
  const isSure = best !== undefined && best[1] > Math.max(1, english) && best[1] >= words.length / 4;
  return isSure ? best[0] : undefined;
}
