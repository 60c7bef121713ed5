/**
 * Looks words of another language up: what they are in English. Forms that the list lacks are found by their beginning, and
 * German compounds by their halves.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** An English word for a word, and its share of the word's meaning. */
export interface English {
  readonly word: string;
  readonly share: number;
}

/** The words of one language. */
export class ForeignWords {
  readonly #words = new Map<string, readonly English[]>();
  #sorted: readonly string[] | undefined;
  /** How many characters the longest entry has. */
  readonly longest: number;

  /** Takes lines `word TAB english[:share] english[:share]`; ignores lines of another form. */
  constructor(text: string) {
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
    return this.#byBeginning(word) ?? this.#byHalves(word);
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
