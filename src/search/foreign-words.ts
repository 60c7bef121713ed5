/**
 * Looks words of another language up: what they are in English. Forms that the list lacks are found by their beginning, and
 * German compounds by their halves.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Language } from './language-of.ts';
import { sharedForms } from './word-forms.ts';

/** An English word for a word, and its share of the word's meaning. */
export interface English {
  readonly word: string;
  readonly share: number;
}

/** The words of one language. */
export class ForeignWords {
  readonly #words = new Map<string, readonly English[]>();
  readonly #language: Language;
  #sorted: readonly string[] | undefined;
  /** Entries by what their forms share. */
  #byForm: ReadonlyMap<string, string> | undefined;
  /** How many characters the longest entry has. */
  readonly longest: number;

  /** Takes lines `word TAB english[:share] english[:share]`; ignores lines of another form. */
  constructor(text: string, language: Language) {
    this.#language = language;
    let longest = 1;
    for (const line of text.split('\n')) {
      const tab = line.indexOf('\t');
      if (tab < 1) continue;
      const word = line.slice(0, tab);
      this.#words.set(
        word,
        line
          .slice(tab + 1)
          .split('|')
          .map(toEnglish),
      );
      longest = Math.max(longest, word.length);
    }
    this.longest = longest;
  }

  /** What exactly this word, or these words, are in English. */
  get(word: string): readonly English[] | undefined {
    return this.#words.get(word);
  }

  /** What a word is in English, whatever its ending. */
  find(word: string): readonly English[] | undefined {
    const known = this.get(word);
    if (known !== undefined || word.length > LIMITS.search.word) return known;
    return this.#sameWord(word) ?? this.#byBeginning(word) ?? this.#byHalves(word);
  }

  /** The entry that is another form of a word. */
  #sameWord(word: string): readonly English[] | undefined {
    const forms = sharedForms(this.#language, word);
    if (forms.length === 0) return undefined;
    this.#byForm ??= this.#readForms();
    const known = forms.map((form) => this.#byForm?.get(form)).find((entry) => entry !== undefined);
    return known === undefined ? undefined : this.get(known);
  }

  /** If entries share a form, the entry counts that lists it earlier. */
  #readForms(): ReadonlyMap<string, string> {
    const entries = [...this.#words.keys()].filter((known) => !known.includes(' '));
    const forms = entries.map((known) => sharedForms(this.#language, known));
    const byForm = new Map<string, string>();
    for (let rank = 0; forms.some((list) => list.length > rank); rank++)
      for (const [at, known] of entries.entries()) {
        const form = forms[at]?.[rank];
        if (form !== undefined && !byForm.has(form)) byForm.set(form, known);
      }
    return byForm;
  }

  /** The entry that has the longest beginning in common with a word, if that is most of both. */
  #byBeginning(word: string): readonly English[] | undefined {
    if (word.length < SHORTEST) return undefined;
    this.#sorted ??= [...this.#words.keys()].filter((known) => !known.includes(' ')).sort();
    const at = lowerBound(this.#sorted, word);
    let best: string | undefined;
    let bestCommon = 0;
    for (let place = Math.max(0, at - NEIGHBOURS); place < Math.min(this.#sorted.length, at + NEIGHBOURS); place++) {
      const known = this.#sorted[place] as string;
      const common = commonLength(word, known);
      const isAlike = common >= SHORTEST && word.length - common <= ENDING && known.length - common <= ENDING;
      if (!isAlike || common < known.length * 0.6) continue;
      const isBetter = common > bestCommon || (common === bestCommon && known.length < (best?.length ?? 0));
      if (isBetter) [best, bestCommon] = [known, common];
    }
    return best === undefined ? undefined : this.get(best);
  }

  #byHalves(word: string): readonly English[] | undefined {
    for (let at = word.length - SHORTEST; at >= SHORTEST; at--) {
      const first = this.get(word.slice(0, at)) ?? this.get(word.slice(0, at).replace(/e?[sn]$/, ''));
      const second = first && (this.get(word.slice(at)) ?? this.#byBeginning(word.slice(at)));
      if (first?.[0] !== undefined && second?.[0] !== undefined) return [first[0], second[0]].map(whole);
    }
    return undefined;
  }
}

const SHORTEST = 4;
const ENDING = 4;
const NEIGHBOURS = 12;

const whole = ({ word }: English): English => ({ word, share: 1 });

function toEnglish(text: string): English {
  const [word = '', share] = text.split(':');
  return { word, share: share === undefined ? 1 : Number(share) };
}

function lowerBound(sorted: readonly string[], word: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

function commonLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}
