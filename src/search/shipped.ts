/**
 * What comes with the package beside its code, read from disk when it is first needed and kept: the vectors of words and the
 * phrases for known tools. Where a file is missing or damaged, search goes on without it.
 * @module
 */
import { readFileSync } from 'node:fs';
import { MeaningModel } from './meaning-model.ts';
import { decodeModel } from './model-file.ts';
import { type PhraseBook, parsePhraseBook } from './phrase-book.ts';

/** Two folders up from here both in `src` and in `dist`, and from the bundled commands. */
const FOLDER = new URL('../../models/', import.meta.url);

let model: MeaningModel | false | undefined;
let phrases: PhraseBook | undefined;

/** The shipped vectors; undefined where there are none. */
export function shippedModel(): MeaningModel | undefined {
  model ??= readModel(new URL('meaning.bin', FOLDER)) ?? false;
  return model === false ? undefined : model;
}

/** The shipped phrases; none where the file is missing. */
export function shippedPhrases(): PhraseBook {
  const text = phrases === undefined ? read(new URL('phrases.json', FOLDER)) : undefined;
  phrases ??= (text && parsePhraseBook(text.toString('utf8'))) || new Map();
  return phrases;
}

/** Reads a model file; undefined where there is none. */
export function readModel(file: URL | string): MeaningModel | undefined {
  const bytes = read(file);
  const data = bytes && decodeModel(bytes);
  return data && new MeaningModel(data);
}

function read(file: URL | string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    // A package without this file still searches.
    return undefined;
  }
}
