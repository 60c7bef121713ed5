/**
 * Texts in, numbers out: of the terms that are indexed and of the words that have a meaning. Texts share most of their words,
 * so each is taken apart, stemmed and looked up once; after that it costs one look-up. A lexicon lives as long as the
 * documents that are waiting to become a segment.
 * @module
 */
import type { MeaningModel } from './meaning-model.ts';
import { type MeaningPart, type MeaningText, spokenWords } from './meaning-text.ts';
import type { Parts, SearchSettings } from './settings.ts';
import { isStopWord } from './stop-words.ts';
import { toTerm } from './term.ts';
import { TermTally } from './term-tally.ts';
import { chunksOf, wordsOf } from './tokenizer.ts';

/** What is known of one word or identifier. */
interface Reading {
  /** The numbers of its terms. */
  readonly terms: readonly number[];
  /** How many words it is when an identifier counts by its parts. */
  readonly words: number;
  /** The model's ordinals of its words. */
  readonly spoken: readonly number[];
}

/** Terms by number, in the order they came up. */
export class Lexicon {
  readonly terms: string[] = [];
  /** For the tool that is read now. */
  readonly tally = new TermTally();
  readonly #numbers = new Map<string, number>();
  readonly #readings = new Map<string, Reading>();
  readonly #parts: Parts;
  readonly #model: MeaningModel | undefined;

  constructor({ parts, model }: Pick<SearchSettings, 'parts' | 'model'>) {
    this.#parts = parts;
    this.#model = model;
  }

  /** The number of a term. */
  numberOf(term: string): number {
    let number = this.#numbers.get(term);
    if (number === undefined) {
      number = this.terms.push(term) - 1;
      this.#numbers.set(term, number);
    }
    return number;
  }

  /** Adds the terms of a text to `numbers`; how many words it has. */
  read(text: string, numbers: number[]): number {
    let words = 0;
    for (const chunk of text === '' ? [] : chunksOf(text)) {
      const reading = this.#readingOf(chunk);
      words += reading.words;
      for (const number of reading.terms) numbers.push(number);
    }
    return words;
  }

  /** The model's ordinals of the words of a tool, part by part; -1 for those it does not know. */
  meaningOf(texts: Readonly<Record<MeaningPart, MeaningText>>): Record<MeaningPart, number[]> {
    const { server, name, lead, rest, parameters } = texts;
    return {
      server: this.#spoken(server),
      name: this.#spoken(name),
      lead: this.#spoken(lead),
      rest: this.#spoken(rest),
      parameters: this.#spoken(parameters),
    };
  }

  #spoken({ text, most }: MeaningText): number[] {
    const ordinals: number[] = [];
    for (const chunk of text === '' ? [] : chunksOf(text)) {
      for (const ordinal of this.#readingOf(chunk).spoken) {
        if (ordinals.length === most) return ordinals;
        ordinals.push(ordinal);
      }
    }
    return ordinals;
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
    const model = this.#model;
    const terms: number[] = [];
    let words = 0;
    for (const word of wordsOf(chunk)) {
      if (isStopWord(word.text)) continue;
      if (word.kind !== 'compound') words++;
      const term = toTerm(word, this.#parts);
      if (term !== undefined) terms.push(this.numberOf(term));
    }
    const spoken = model ? spokenWords(chunk).map((word) => model.ordinalOf(word)) : [];
    return { terms, words, spoken };
  }
}
