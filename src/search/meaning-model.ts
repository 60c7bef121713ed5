/**
 * The word vectors in, the meaning of a tool or a request out: a weighted sum of the vectors of its words. Pure arithmetic on
 * typed arrays; nothing is downloaded and nothing runs but this.
 * @module
 */
import { type Dictionary, findTerm } from './dictionary.ts';
import { MEANING_PARTS, type MeaningPart } from './meaning-text.ts';

/** A unit vector in whole numbers: the i-th component is `values[i] * scale`. */
export interface Meaning {
  readonly values: Int8Array;
  readonly scale: number;
}

/** Everything a model file holds. */
export interface ModelData {
  /** Names the vectors; an index made with others is not used. */
  readonly id: string;
  readonly dimensions: number;
  /** How much each part of a tool counts, in the order of `MEANING_PARTS`. */
  readonly partWeights: readonly number[];
  readonly dictionary: Dictionary;
  /** `dimensions` whole numbers a word. */
  readonly vectors: Int8Array;
  /** The numbers of one word, as long as that is cheaper than to have those of all. */
  readonly vectorOf?: ((ordinal: number) => Int8Array | undefined) | undefined;
  /** What a word's whole numbers are multiplied with. */
  readonly scales: Float32Array;
}

const MOST_REMEMBERED = 20_000;

/** Vectors of words, and what texts mean by them. */
export class MeaningModel {
  readonly id: string;
  readonly dimensions: number;
  readonly #data: ModelData;
  readonly #ordinals = new Map<string, number>();

  constructor(data: ModelData) {
    this.id = data.id;
    this.dimensions = data.dimensions;
    this.#data = data;
  }

  /** What a request means, as a unit vector; undefined when none of its words is known. */
  ofRequest(words: readonly string[]): Float32Array | undefined {
    const sum = new Float32Array(this.dimensions);
    this.#add(sum, words, 1);
    return normalize(sum) ? sum : undefined;
  }

  /** What a tool means; undefined when none of its words is known. */
  ofTool(words: Readonly<Record<MeaningPart, readonly string[]>>): Meaning | undefined {
    const sum = new Float32Array(this.dimensions);
    for (const [position, part] of MEANING_PARTS.entries()) {
      this.#add(sum, words[part], this.#data.partWeights[position] ?? 0);
    }
    return normalize(sum) ? toMeaning(sum) : undefined;
  }

  /** How alike two words are in use, from -1 to 1; 0 when one of them is not known. */
  likeness(left: string, right: string): number {
    const [a, b] = [this.ofRequest([left]), this.ofRequest([right])];
    return a === undefined || b === undefined ? 0 : a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  }

  /** Tools share most of their words; looking each up once is a good part of the time an index takes. */
  #ordinalOf(word: string): number {
    let ordinal = this.#ordinals.get(word);
    if (ordinal === undefined) {
      ordinal = findTerm(this.#data.dictionary, word);
      if (this.#ordinals.size >= MOST_REMEMBERED) this.#ordinals.clear();
      this.#ordinals.set(word, ordinal);
    }
    return ordinal;
  }

  /** Adds words so that a long text weighs more than a short one, but not in proportion. */
  #add(sum: Float32Array, words: readonly string[], weight: number): void {
    const { scales } = this.#data;
    const known = words.map((word) => this.#ordinalOf(word)).filter((ordinal) => ordinal >= 0);
    const share = weight / Math.sqrt(Math.max(1, known.length));
    for (const ordinal of known) {
      const factor = share * (scales[ordinal] as number);
      const alone = this.#data.vectorOf?.(ordinal);
      const vectors = alone ?? this.#data.vectors;
      const start = alone === undefined ? ordinal * sum.length : 0;
      for (let index = 0; index < sum.length; index++) {
        sum[index] = (sum[index] as number) + factor * (vectors[start + index] as number);
      }
    }
  }
}

/** Makes a vector one long; false when it is nothing. */
function normalize(vector: Float32Array): boolean {
  let square = 0;
  for (const value of vector) square += value * value;
  if (!(square > 1e-12)) return false;
  const factor = 1 / Math.sqrt(square);
  for (let index = 0; index < vector.length; index++) vector[index] = (vector[index] as number) * factor;
  return true;
}

/** Rounds a vector to whole numbers so that the largest is 127; the scale makes what is left one long again. */
export function toMeaning(vector: Float32Array): Meaning {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const values = new Int8Array(vector.length);
  let square = 0;
  for (let index = 0; index < vector.length; index++) {
    const value = Math.round(((vector[index] as number) / largest) * 127);
    values[index] = value;
    square += value * value;
  }
  return { values, scale: 1 / Math.sqrt(square) };
}
