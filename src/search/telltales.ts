/**
 * Lists words that give a language away. The list is searched as it is on disk: most requests ask for a few words and none is
 * found, so nothing is built from it.
 * @module
 */
import { isLanguage, type Language } from './language-of.ts';

/** Words that give a language away, from sorted lines `word TAB language language`. */
export class Telltales {
  readonly #lines: string;

  constructor(lines: string) {
    this.#lines = lines;
  }

  /** The languages that have a word; none for most words. */
  languagesOf(word: string): readonly Language[] {
    const lines = this.#lines;
    let [low, high] = [0, lines.length];
    while (low < high) {
      const start = lines.lastIndexOf('\n', ((low + high) >>> 1) - 1) + 1;
      const end = lines.indexOf('\n', start);
      const line = lines.slice(start, end < 0 ? lines.length : end);
      const known = line.slice(0, line.indexOf('\t'));
      if (known === word)
        return line
          .slice(known.length + 1)
          .split(' ')
          .filter(isLanguage);
      if (known < word) low = start + line.length + 1;
      else high = start;
    }
    return [];
  }
}
