/**
 * Tells how much each word of a long request asks: "Our flight was moved to six. Let Elena know" asks to let know, and asks for
 * no flight. A transformer of one layer reads the vectors of the words in order and gives each word a weight.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { LITERALS } from './literals.ts';
import type { MeaningModel } from './meaning-model.ts';
import { CHUNK, fold, wordsOf } from './tokenizer.ts';

/** How much each word of a request asks, from 0 to 1; the word that asks most has 1. */
export type Asking = ReadonlyMap<string, number>;

/** What a request has beside words: words without a vector, values, and marks. */
export const SIGNS = ['unknown', 'value', '.', '?', '!', ',', ':', ';', '(', ')', '\n'] as const;

/** A word or a sign of a request. */
export interface Piece {
  /** Undefined for a mark or a value. */
  readonly word: string | undefined;
  /** The number of the word's vector; undefined for what has none. */
  readonly ordinal: number | undefined;
  /** Its place in `SIGNS`, if it has no vector. */
  readonly sign: number;
}

/** The sizes of a transformer, and its numbers in the order in which they are read. */
interface AskingData {
  readonly vectors: string;
  readonly width: number;
  readonly heads: number;
  readonly inner: number;
  readonly places: number;
  readonly numbers: Float32Array;
}

/** Shorter requests ask with every word. */
const FEWEST_WORDS = 12;
const VALUE = '\u0000';
const PIECE = new RegExp(`[${VALUE}.?!,:;()\\n]|${CHUNK.source}`, 'gu');

/** Reads a request as the transformer does. */
export function piecesOf(text: string, model: Pick<MeaningModel, 'ordinalOf'>): Piece[] {
  const folded = fold(text).replaceAll(VALUE, ' ').replace(LITERALS, VALUE);
  const pieces: Piece[] = [];
  for (const [found] of folded.matchAll(PIECE)) {
    if (pieces.length >= LIMITS.search.askingPieces) break;
    const sign = found === VALUE ? SIGNS.indexOf('value') : (SIGNS as readonly string[]).indexOf(found);
    if (found.length === 1 && sign >= 0) pieces.push({ word: undefined, ordinal: undefined, sign });
    else for (const { text: word, kind } of wordsOf(found)) if (kind !== 'compound') pieces.push(toPiece(word, model));
  }
  return pieces.slice(0, LIMITS.search.askingPieces);
}

function toPiece(word: string, model: Pick<MeaningModel, 'ordinalOf'>): Piece {
  const ordinal = model.ordinalOf(word);
  return { word, ordinal: ordinal < 0 ? undefined : ordinal, sign: SIGNS.indexOf('unknown') };
}

/** Weighs words. Made by `training/train-asking.py`. */
export class AskingModel {
  /** The name of the vectors that it was trained on. */
  readonly vectors: string;
  readonly #data: AskingData;

  private constructor(data: AskingData) {
    this.vectors = data.vectors;
    this.#data = data;
  }

  /** Reads a model file; undefined if it is damaged. */
  static parse(text: string, dimensions: number): AskingModel | undefined {
    const data = readData(text, dimensions);
    return data && new AskingModel(data);
  }

  /** Weighs the words of a request in English; undefined for a short one, whose words all ask. */
  weigh(text: string, model: MeaningModel): Asking | undefined {
    const pieces = piecesOf(text, model);
    if (pieces.filter(({ word }) => word !== undefined).length < FEWEST_WORDS) return undefined;
    const scores = this.#scores(pieces, model);
    const asking = new Map<string, number>();
    for (const [place, { word }] of pieces.entries()) {
      if (word !== undefined) asking.set(word, Math.max(asking.get(word) ?? 0, scores[place] as number));
    }
    const most = Math.max(...asking.values());
    // The square root softens the weights, because the transformer may be wrong.
    for (const [word, score] of asking) asking.set(word, Math.sqrt(score / most));
    return asking;
  }

  /** How much each piece asks, above 0 and at most 1. */
  #scores(pieces: readonly Piece[], model: MeaningModel): Float64Array {
    const { width, heads, inner, places, numbers } = this.#data;
    const count = pieces.length;
    const next = reader(numbers);
    const [project, projectBias] = [next(width * model.dimensions), next(width)];
    const [signs, fromStart, fromEnd] = [next(SIGNS.length * width), next(places * width), next(places * width)];

    const state = new Float64Array(count * width);
    const vector = new Float64Array(model.dimensions);
    for (const [at, { ordinal, sign }] of pieces.entries()) {
      const row = state.subarray(at * width, (at + 1) * width);
      if (ordinal === undefined) row.set(signs.subarray(sign * width, (sign + 1) * width));
      else {
        model.readVector(ordinal, vector);
        multiply(vector, project, projectBias, row);
      }
      add(row, fromStart, Math.min(at, places - 1) * width);
      add(row, fromEnd, Math.min(count - 1 - at, places - 1) * width);
    }

    const forAttention = normalized(state, width, next(width), next(width));
    const [queries, keys, values] = [0, 1, 2].map(() => eachRow(forAttention, width, next(width * width), next(width)));
    const attended = attend(queries as Float64Array, keys as Float64Array, values as Float64Array, width, heads);
    add(state, eachRow(attended, width, next(width * width), next(width)));

    const forInner = normalized(state, width, next(width), next(width));
    const hidden = eachRow(forInner, width, next(inner * width), next(inner));
    for (let at = 0; at < hidden.length; at++) hidden[at] = Math.max(0, hidden[at] as number);
    add(state, eachRow(hidden, inner, next(width * inner), next(width)));

    const last = eachRow(normalized(state, width, next(width), next(width)), width, next(width), next(1));
    return last.map((score) => 1 / (1 + Math.exp(-score)));
  }
}

/** Hands out the numbers of one matrix or vector after the other. */
function reader(numbers: Float32Array): (length: number) => Float32Array {
  let at = 0;
  return (length) => {
    at += length;
    return numbers.subarray(at - length, at);
  };
}

/** How many numbers a transformer of these sizes has. */
const sizeOf = ({ width, inner, places }: Omit<AskingData, 'numbers'>, dimensions: number): number =>
  width * dimensions +
  width +
  (SIGNS.length + 2 * places) * width +
  4 * (width * width + width) +
  2 * inner * width +
  inner +
  width +
  6 * width +
  width +
  1;

function readData(text: string, dimensions: number): AskingData | undefined {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    // Without the file, every word asks.
    return undefined;
  }
  if (!isObject(file) || typeof file.numbers !== 'string' || typeof file.vectors !== 'string') return undefined;
  const bytes = Uint8Array.from(Buffer.from(file.numbers, 'base64'));
  if (bytes.length % 4 !== 0 || file.id !== createHash('sha256').update(bytes).digest('hex').slice(0, 16))
    return undefined;
  const [width, heads, inner, places] = ['width', 'heads', 'inner', 'places'].map((key) => Number(file[key]));
  const data = { vectors: file.vectors, width, heads, inner, places } as Omit<AskingData, 'numbers'>;
  const numbers = new Float32Array(bytes.buffer);
  return sizeOf(data, dimensions) === numbers.length ? { ...data, numbers } : undefined;
}

/** `into[i] = bias[i] + matrix[i] · row` */
function multiply(row: Float64Array, matrix: Float32Array, bias: Float32Array, into: Float64Array): void {
  for (let out = 0, at = 0; out < into.length; out++) {
    let sum = bias[out] as number;
    for (let place = 0; place < row.length; place++) sum += (matrix[at++] as number) * (row[place] as number);
    into[out] = sum;
  }
}

/** `multiply` for every row of a matrix. */
function eachRow(rows: Float64Array, width: number, matrix: Float32Array, bias: Float32Array): Float64Array {
  const result = new Float64Array((rows.length / width) * bias.length);
  for (let row = 0; row * width < rows.length; row++) {
    const into = result.subarray(row * bias.length, (row + 1) * bias.length);
    multiply(rows.subarray(row * width, (row + 1) * width), matrix, bias, into);
  }
  return result;
}

function add(into: Float64Array, from: Float64Array | Float32Array, start = 0): void {
  for (let at = 0; at < into.length; at++) into[at] = (into[at] as number) + (from[start + at] as number);
}

/** Every row with average 0 and variance 1, then scaled and shifted. */
function normalized(rows: Float64Array, width: number, scale: Float32Array, shift: Float32Array): Float64Array {
  const result = new Float64Array(rows.length);
  for (let start = 0; start < rows.length; start += width) {
    const row = rows.subarray(start, start + width);
    const average = row.reduce((sum, value) => sum + value, 0) / width;
    const variance = row.reduce((sum, value) => sum + (value - average) ** 2, 0) / width;
    const factor = 1 / Math.sqrt(variance + 1e-5);
    for (let at = 0; at < width; at++)
      result[start + at] = ((row[at] as number) - average) * factor * (scale[at] as number) + (shift[at] as number);
  }
  return result;
}

/** Every row becomes an average of all rows' values, weighed by how well its query fits their keys; for each head on its own. */
function attend(
  queries: Float64Array,
  keys: Float64Array,
  values: Float64Array,
  width: number,
  heads: number,
): Float64Array {
  const count = queries.length / width;
  const size = width / heads;
  const result = new Float64Array(queries.length);
  const fits = new Float64Array(count);
  for (let head = 0; head < width; head += size) {
    for (let row = 0; row < count; row++) {
      const query = queries.subarray(row * width + head, row * width + head + size);
      for (let other = 0; other < count; other++) {
        fits[other] = dot(query, keys, other * width + head) / Math.sqrt(size);
      }
      softmax(fits);
      for (let other = 0; other < count; other++) {
        for (let at = head; at < head + size; at++)
          result[row * width + at] =
            (result[row * width + at] as number) + (fits[other] as number) * (values[other * width + at] as number);
      }
    }
  }
  return result;
}

function dot(left: Float64Array, right: Float64Array, start: number): number {
  let sum = 0;
  for (let at = 0; at < left.length; at++) sum += (left[at] as number) * (right[start + at] as number);
  return sum;
}

function softmax(values: Float64Array): void {
  // No iterators: this runs for each word and head, and with them it took half of the time.
  let most = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < values.length; at++) most = Math.max(most, values[at] as number);
  let sum = 0;
  for (let at = 0; at < values.length; at++) {
    const power = Math.exp((values[at] as number) - most);
    values[at] = power;
    sum += power;
  }
  for (let at = 0; at < values.length; at++) values[at] = (values[at] as number) / sum;
}
