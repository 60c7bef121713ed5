/**
 * Numbers the terms of texts and the words that have a meaning. Texts share most of their words, so each word is split, stemmed
 * and looked up only once. A lexicon lives as long as the documents that wait to become a segment.
 * @module
 */
import type { MeaningModel } from './meaning-model.ts';
import type { Parts, SearchSettings } from './settings.ts';
import { isStopWord } from './stop-words.ts';
import { toTerm } from './term.ts';
import { TermTally } from './term-tally.ts';
import { chunksOf, type Word, wordsOf } from './tokenizer.ts';

/** What is known of one word or identifier. */
export interface Reading {
  /** The numbers of its terms. */
  readonly terms: readonly number[];
  /** How many words it is when an identifier counts by its parts. */
  readonly words: number;
  /** The model's ordinals of its words. */
  readonly spoken: readonly number[];
}

/** What is known of one word. */
interface KnownWord {
  readonly isStopWord: boolean;
  /** The number of its term; undefined for one that is left out. */
  readonly term: number | undefined;
  /** The model's ordinal; -1 where it has none. */
  readonly ordinal: number;
}

/** Numbers terms in the order of their first use. */
export class Lexicon {
  readonly terms: string[] = [];
  /** For the tool that is read now. */
  readonly tally = new TermTally();
  /** For the field that is read now. */
  readonly fieldTally = new TermTally();
  readonly #numbers = new Map<string, number>();
  readonly #readings = new Map<string, Reading>();
  readonly #words: Readonly<Record<Word['kind'], Map<string, KnownWord>>> = {
    whole: new Map(),
    part: new Map(),
    compound: new Map(),
  };
  #about: { readonly text: string; readonly terms: readonly number[] } | undefined;
  readonly #parts: Parts;
  readonly #model: MeaningModel | undefined;

  constructor({ parts, model }: Pick<SearchSettings, 'parts' | 'model'>) {
    this.#parts = parts;
    this.#model = model;
  }

  /** The number of a known term. */
  find(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** Returns the number of a term; numbers it if it is new. */
  numberOf(term: string): number {
    let number = this.#numbers.get(term);
    if (number === undefined) {
      number = this.terms.push(term) - 1;
      this.#numbers.set(term, number);
    }
    return number;
  }

  /** What is known of each word and identifier of a text. */
  read(text: string): readonly Reading[] {
    return text === '' ? [] : chunksOf(text).map((chunk) => this.#readingOf(chunk));
  }

  /** The terms that a server's description gives its tools, which come one after the other. */
  termsAbout(about: string): readonly number[] {
    if (this.#about?.text !== about)
      this.#about = { text: about, terms: this.read(about).flatMap(({ terms }) => terms) };
    return this.#about.terms;
  }

  #readingOf(chunk: string): Reading {
    let reading = this.#readings.get(chunk);
    if (reading === undefined) {
      reading = this.#takeApart(chunk);
      this.#readings.set(chunk, reading);
    }
    return reading;
  }

  #takeApart(chunk: string): Reading {
    const terms: number[] = [];
    const spoken: number[] = [];
    let words = 0;
    for (const word of wordsOf(chunk)) {
      const known = this.#known(word);
      if (word.kind !== 'compound') spoken.push(known.ordinal);
      if (known.isStopWord) continue;
      if (word.kind !== 'compound') words++;
      if (known.term !== undefined) terms.push(known.term);
    }
    return { terms, words, spoken };
  }

  #known(word: Word): KnownWord {
    // The same letters may be a word here and part of an identifier there, and count for different things.
    const words = this.#words[word.kind];
    let known = words.get(word.text);
    if (known === undefined) {
      const isStop = isStopWord(word.text);
      const term = isStop ? undefined : toTerm(word, this.#parts);
      known = {
        isStopWord: isStop,
        term: term === undefined ? undefined : this.numberOf(term),
        ordinal: word.kind === 'compound' ? -1 : (this.#model?.ordinalOf(word.text) ?? -1),
      };
      words.set(word.text, known);
    }
    return known;
  }
}
