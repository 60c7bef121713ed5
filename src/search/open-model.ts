/**
 * A model file in, a model out that reads what it is asked for: the words at once, the vectors of a query one by one, and all
 * of them as soon as there is more to do. A search from the command line then reads a seventh of the file.
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ModelData } from './meaning-model.ts';
import { decodeWords, readLayout } from './model-file.ts';

/** The head of a file fits into this. */
const FIRST_BYTES = 4096;
/** Vectors that are read one by one before all are. */
const MOST_ALONE = 256;

/** Opens a model; undefined where there is none. The file stays open until all of it is read. */
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
  const { dimensions, words } = layout;
  const numbersFrom = (ordinal: number, count: number): Int8Array => {
    // A disk that fails now takes the meaning of words away, not the search for them.
    const bytes = attempt(() => readAt(file, layout.vectors + ordinal * dimensions, count * dimensions));
    return bytes ? new Int8Array(bytes.buffer) : new Int8Array(count * dimensions);
  };
  let asked = 0;
  let all: Int8Array | undefined;
  return {
    ...decodeWords(readAt(file, 0, layout.vectors), layout),
    vectorOf: (ordinal) => (asked++ < MOST_ALONE ? numbersFrom(ordinal, 1) : undefined),
    get vectors() {
      if (all === undefined) {
        all = numbersFrom(0, words);
        closeSync(file);
        asked = MOST_ALONE;
      }
      return all;
    },
  };
}

/** So many bytes of a file; throws where there are fewer. */
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
