/**
 * Encodes and decodes a model file. Decoding makes views, not copies; its only cost is the check for damage. Layout: magic,
 * length of the head, head (JSON), then offsets, scales, letters and vectors, each padded to 4 bytes.
 * @module
 */
import { createHash } from 'node:crypto';
import { type Dictionary, termCount } from './dictionary.ts';
import type { ModelData } from './meaning-model.ts';
import { CODE_BITS } from './segment.ts';

/** Also tells byte orders apart. */
const MAGIC = 0x41_47_57_31;

/** Names a model by its numbers. A file whose numbers give another name is damaged. */
export const modelId = (vectors: Int8Array, scales: Float32Array): string =>
  createHash('sha256').update(vectors).update(bytesOf(scales)).digest('hex').slice(0, 16);

/** Writes a model down. */
export function encodeModel({ dictionary, vectors, scales, ...head }: ModelData): Uint8Array {
  const text = new TextEncoder().encode(
    JSON.stringify({ ...head, words: termCount(dictionary), letters: dictionary.units.length }),
  );
  const sections = [dictionary.offsets, scales, dictionary.units, vectors];
  const bytes = new Uint8Array(sections.reduce((sum, { byteLength }) => sum + pad(byteLength), 8 + pad(text.length)));
  new Uint32Array(bytes.buffer, 0, 2).set([MAGIC, text.length]);
  bytes.set(text, 8);
  let at = 8 + pad(text.length);
  for (const section of sections) {
    bytes.set(bytesOf(section), at);
    at += pad(section.byteLength);
  }
  return bytes;
}

/** Reads a model; undefined if it is incomplete or damaged. The bytes stay in use. */
export function decodeModel(bytes: Uint8Array): ModelData | undefined {
  const layout = readLayout(bytes, bytes.byteLength);
  if (layout === undefined) return undefined;
  const view = aligned(bytes);
  const words = decodeWords(view, layout);
  const vectors = new Int8Array(view.buffer, view.byteOffset + layout.vectors, layout.words * layout.dimensions);
  return words && isUndamaged(words, vectors) ? { ...words, vectors } : undefined;
}

/** Tells whether a model is undamaged, by the order of its words and the name of its numbers. Takes about 10 ms. */
export const isUndamaged = ({ id, dictionary, scales }: ModelWords, vectors: Int8Array): boolean =>
  isSorted(dictionary) && modelId(vectors, scales) === id;

/** All of a model but its vectors. */
type ModelWords = Omit<ModelData, 'vectors'>;

/** What the head of a file says, and where the vectors begin. */
export interface ModelLayout extends Head {
  readonly offsets: number;
  readonly scales: number;
  readonly units: number;
  readonly vectors: number;
}

/** Reads the head of a file of `size` bytes from its first bytes; undefined if it is not a complete model. */
export function readLayout(start: Uint8Array, size: number): ModelLayout | undefined {
  const view = aligned(start);
  if (view.byteLength < 8) return undefined;
  const [magic, length = 0] = new Uint32Array(view.buffer, view.byteOffset, 2);
  if (magic !== MAGIC || 8 + length > view.byteLength) return undefined;
  const head = readHead(view.subarray(8, 8 + length));
  if (head === undefined) return undefined;
  const { dimensions, words, letters } = head;
  const offsets = 8 + pad(length);
  const scales = offsets + (words + 1) * 4;
  const units = scales + words * 4;
  const vectors = units + pad(letters * 2);
  return vectors + pad(words * dimensions) === size ? { ...head, offsets, scales, units, vectors } : undefined;
}

/** Reads all but the vectors; undefined if the offsets do not fit. The bytes before the vectors stay in use. */
export function decodeWords(bytes: Uint8Array, layout: ModelLayout): ModelWords | undefined {
  const { id, dimensions, partWeights, words, letters } = layout;
  const { buffer, byteOffset } = aligned(bytes);
  const offsets = new Uint32Array(buffer, byteOffset + layout.offsets, words + 1);
  const units = new Uint16Array(buffer, byteOffset + layout.units, letters);
  const scales = new Float32Array(buffer, byteOffset + layout.scales, words);
  if (offsets[0] !== 0 || offsets[words] !== letters) return undefined;
  return { id, dimensions, partWeights, dictionary: { offsets, units }, scales };
}

/** Tells whether the words are sorted; hardly any damage keeps them so. A plain loop, because it runs once and unoptimised. */
function isSorted({ offsets, units }: Dictionary): boolean {
  let before = 0;
  for (let word = 1; word < offsets.length - 1; word++) {
    const start = offsets[word] as number;
    const end = offsets[word + 1] as number;
    let at = 0;
    while (before + at < start && start + at < end && units[before + at] === units[start + at]) at++;
    if (start + at >= end) return false;
    if (before + at < start && (units[before + at] as number) > (units[start + at] as number)) return false;
    before = start;
  }
  return true;
}

type Head = Pick<ModelData, 'id' | 'dimensions' | 'partWeights'> & { readonly words: number; readonly letters: number };

const aligned = (bytes: Uint8Array): Uint8Array => (bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes));

/** Parses the head of a file; undefined if it is damaged. */
function readHead(bytes: Uint8Array): Head | undefined {
  try {
    const head = JSON.parse(new TextDecoder().decode(bytes)) as Head;
    const isWhole =
      typeof head.id === 'string' &&
      [head.dimensions, head.words, head.letters].every((count) => Number.isSafeInteger(count) && count >= 0) &&
      head.dimensions % CODE_BITS === 0 &&
      head.partWeights.every(Number.isFinite);
    return isWhole ? head : undefined;
  } catch {
    // Not JSON, or not of this shape: the file is damaged.
    return undefined;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const pad = (length: number): number => (length + 3) & ~3;
