/**
 * Computes the meaning of a tool or a request: a weighted sum of the vectors of its words. Pure arithmetic on typed arrays.
 * @module
 */
import { type Dictionary, findTerm, nearTerms, prefixRange, termAt } from './dictionary.ts';
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

/** Vectors of words, and what texts mean by them. */
export class MeaningModel {
  readonly dimensions: number;
  readonly #data: ModelData;

  constructor(data: ModelData) {
    this.dimensions = data.dimensions;
    this.#data = data;
  }

  /** Names the vectors; vectors that turn out to be damaged have another name. */
  get id(): string {
    return this.#data.id;
  }

  /** What a request means, as a unit vector; undefined when none of its words is known. A word without a weight counts 1. */
  ofRequest(words: readonly string[], weights: readonly number[] = []): Float32Array | undefined {
    const sum = new Float64Array(this.dimensions);
    this.#add(
      sum,
      words.map((word) => this.ordinalOf(word)),
      1,
      weights,
    );
    return normalize(sum) ? Float32Array.from(sum) : undefined;
  }

  /** What a tool means, by the ordinals of its words; undefined when none of them is known. */
  ofTool(ordinals: Readonly<Record<MeaningPart, readonly number[]>>): Meaning | undefined {
    const sum = new Float64Array(this.dimensions);
    for (const [position, part] of MEANING_PARTS.entries()) {
      this.#add(sum, ordinals[part], this.#data.partWeights[position] ?? 0);
    }
    return normalize(sum) ? toMeaning(sum) : undefined;
  }

  /** The number of a word; -1 for one that is not known. */
  ordinalOf(word: string): number {
    return findTerm(this.#data.dictionary, word);
  }

  /** Writes the vector of a known word into an array. */
  readVector(ordinal: number, into: Float64Array): void {
    this.#add(into.fill(0), [ordinal], 1);
  }

  /** Known words that begin like a word and are at most so many edits away. */
  near(word: string, distance: number): { readonly word: string; readonly distance: number }[] {
    const { dictionary } = this.#data;
    // Typos in the first letter are rare, and this is the slowest step of a query.
    const [from, to] = prefixRange(dictionary, word.charAt(0));
    return nearTerms(dictionary, word, distance, from, to).map((near) => ({
      word: termAt(dictionary, near.ordinal),
      distance: near.distance,
    }));
  }

  /** How alike two words are in use, from -1 to 1; 0 when one of them is not known. */
  likeness(left: string, right: string): number {
    const [a, b] = [this.ofRequest([left]), this.ofRequest([right])];
    return a === undefined || b === undefined ? 0 : a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  }

  /** Adds words so that a long text weighs more than a short one, but not in proportion. */
  #add(sum: Float64Array, ordinals: readonly number[], weight: number, weights: readonly number[] = []): void {
    const { scales, vectorOf } = this.#data;
    let known = 0;
    for (const ordinal of ordinals) if (ordinal >= 0) known++;
    const share = weight / Math.sqrt(Math.max(1, known));
    for (let place = 0; place < ordinals.length; place++) {
      const ordinal = ordinals[place] as number;
      if (ordinal < 0) continue;
      const factor = share * (scales[ordinal] as number) * (weights[place] ?? 1);
      const alone = vectorOf?.(ordinal);
      if (alone !== undefined) addScaled(sum, alone, 0, factor);
      else addScaled(sum, this.#data.vectors, ordinal * this.dimensions, factor);
    }
  }
}

/** Adds a vector, four numbers at a time: this is most of the arithmetic of indexing. Dimensions are a multiple of 32. */
function addScaled(sum: Float64Array, vectors: Int8Array, start: number, factor: number): void {
  for (let at = 0, from = start; at < sum.length; at += 4, from += 4) {
    sum[at] = (sum[at] as number) + factor * (vectors[from] as number);
    sum[at + 1] = (sum[at + 1] as number) + factor * (vectors[from + 1] as number);
    sum[at + 2] = (sum[at + 2] as number) + factor * (vectors[from + 2] as number);
    sum[at + 3] = (sum[at + 3] as number) + factor * (vectors[from + 3] as number);
  }
}

/** Scales a vector to length 1; returns false if it is zero. */
function normalize(vector: Float64Array): boolean {
  let square = 0;
  for (const value of vector) square += value * value;
  if (!(square > 1e-12)) return false;
  const factor = 1 / Math.sqrt(square);
  for (let index = 0; index < vector.length; index++) vector[index] = (vector[index] as number) * factor;
  return true;
}

/** Rounds a vector to integers of at most 127. The scale brings it back to length 1. */
export function toMeaning(vector: Float32Array | Float64Array): Meaning {
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
