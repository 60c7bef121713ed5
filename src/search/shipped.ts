/**
 * Reads the word vectors, phrases and lists of foreign words that ship with the package, when first needed. Search works without a damaged file.
 * @module
 */
import { readFileSync } from 'node:fs';
import { AskingModel } from './asking-model.ts';
import { ForeignWords } from './foreign-words.ts';
import type { Language } from './language-of.ts';
import { MeaningModel } from './meaning-model.ts';
import { openModel, readWholeModel } from './open-model.ts';
import { type PhraseBook, parsePhraseBook } from './phrase-book.ts';
import { Telltales } from './telltales.ts';

/** Two folders up from here both in `src` and in `dist`, and from the bundled commands. */
const FOLDER = new URL('../../models/', import.meta.url);

let model: MeaningModel | false | undefined;
let phrases: PhraseBook | undefined;

/**
 * Returns the shipped vectors; undefined if there are none. All are read at once, so that no query reads from disk. With `frugal`,
 * for a process that answers one query and ends, only the vectors that are needed are read.
 */
export function shippedModel(frugal = false): MeaningModel | undefined {
  model ??= readModel(new URL('meaning.bin', FOLDER), frugal) ?? false;
  return model === false ? undefined : model;
}

/** What to tell a person whose installation, or whose bundle, lacks the vectors. */
export const modelMissing = (): string =>
  `The model file of @anygpt/discovery is missing or damaged: ${new URL('meaning.bin', FOLDER).pathname}. Tools are found by their words, not by meaning. In a bundled program, keep the package external or copy its folder "models" there; otherwise install the package again.`;

let isTold = false;

/** Tells a program without a log that the vectors are missing: once, by a warning of the process. */
export function warnOfMissingModel(): void {
  if (!isTold) process.emitWarning(modelMissing(), 'DiscoveryWarning');
  isTold = true;
}

/** `shippedModel`, with a warning where there is none. */
export function shippedModelOrWarning(): MeaningModel | undefined {
  const found = shippedModel();
  if (found === undefined) warnOfMissingModel();
  return found;
}

/** The shipped phrases; none where the file is missing. */
export function shippedPhrases(): PhraseBook {
  const text = phrases === undefined ? read(new URL('phrases.json', FOLDER)) : undefined;
  phrases ??= (text && parsePhraseBook(text.toString('utf8'))) || new Map();
  return phrases;
}

const askings = new WeakMap<MeaningModel, AskingModel | undefined>();

/** What weighs the words of long requests, read when the first comes; undefined if it was trained on other vectors. */
export function shippedAsking(of: MeaningModel): AskingModel | undefined {
  if (!askings.has(of)) {
    const asking = AskingModel.parse(readText('asking.json'), of.dimensions);
    askings.set(of, asking?.vectors === of.id ? asking : undefined);
  }
  return askings.get(of);
}

const lists = new Map<Language, ForeignWords>();
let telltales: Telltales | undefined;

/** The words of a language, read when the first request in it comes; none where the file is missing. */
export function shippedWords(language: Language): ForeignWords {
  let list = lists.get(language);
  if (list === undefined) {
    list = new ForeignWords(readText(`languages/${language}.tsv`), language);
    lists.set(language, list);
  }
  return list;
}

/** The languages that a word gives away. */
export function shippedTelltales(word: string): readonly Language[] {
  telltales ??= new Telltales(readText('languages/telltales.tsv'));
  return telltales.languagesOf(word);
}

const readText = (name: string): string => read(new URL(name, FOLDER))?.toString('utf8') ?? '';

/** Reads a model file; undefined if it is missing or damaged. */
export function readModel(file: URL | string, frugal = false): MeaningModel | undefined {
  const data = frugal ? openModel(file) : readWholeModel(file);
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
