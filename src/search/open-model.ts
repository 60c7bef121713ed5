/**
 * Opens a model file. It is read and checked as a whole, or in parts: the words at once, the vectors of a query one by one,
 * and all of them as soon as there is more to do. A search from the command line then reads a seventh of the file.
 * @module
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import type { ModelData } from './meaning-model.ts';
import { decodeModel, decodeWords, isUndamaged, readLayout } from './model-file.ts';

/** The head of a file fits into this. */
const FIRST_BYTES = 4096;
/** Vectors that are read one by one before all are. */
const MOST_ALONE = 256;

/** Reads a whole model; undefined if it is missing or damaged. */
export function readWholeModel(file: URL | string): ModelData | undefined {
  return attempt(() => decodeModel(readFileSync(file)));
}

/**
 * Opens a model; undefined if it is missing or its words are damaged. The file stays open until all of it is read. Damaged
 * vectors are noticed only then.
 */
export function openModel(file: URL | string): ModelData | undefined {
  const opened = attempt(() => openSync(file, 'r'));
  if (opened === undefined) return undefined;
  const model = attempt(() => readModel(opened));
  if (model === undefined) closeSync(opened);
  return model;
}

function readModel(file: number): ModelData | undefined {
  const { size } = fstatSync(file);
  const layout = readLayout(readAt(file, 0, Math.min(size, FIRST_BYTES)), size);
  if (layout === undefined) return undefined;
  const words = decodeWords(readAt(file, 0, layout.vectors), layout);
  if (words === undefined) return undefined;
  const { dimensions, scales } = words;
  // If the disk fails now or the file is damaged, search goes on by words.
  const numbersFrom = (ordinal: number, count: number): Int8Array | undefined => {
    const bytes = attempt(() => readAt(file, layout.vectors + ordinal * dimensions, count * dimensions));
    return bytes && new Int8Array(bytes.buffer);
  };
  let asked = 0;
  let all: Int8Array | undefined;
  let damaged = false;
  return {
    ...words,
    get id() {
      return damaged ? `${words.id}, damaged` : words.id;
    },
    vectorOf: (ordinal) => {
      if (asked++ >= MOST_ALONE) return undefined;
      const numbers = Number.isFinite(scales[ordinal]) ? numbersFrom(ordinal, 1) : undefined;
      return numbers ?? new Int8Array(dimensions);
    },
    get vectors() {
      if (all === undefined) {
        const read = numbersFrom(0, layout.words);
        damaged = read === undefined || !isUndamaged(words, read);
        all = read && !damaged ? read : new Int8Array(layout.words * dimensions);
        closeSync(file);
        asked = MOST_ALONE;
      }
      return all;
    },
  };
}

/** Reads a number of bytes of a file; throws if there are fewer. */
function readAt(file: number, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const count = readSync(file, bytes, done, length - done, position + done);
    if (count === 0) throw new Error('the file is shorter than it was');
    done += count;
  }
  return bytes;
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    // A package without this file, or with a damaged one, still searches.
    return undefined;
  }
}
