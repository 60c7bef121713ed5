/**
 * Text from a server, made fit for an error message: one line, no terminal control sequences, not long.
 * @module
 */
import { stripVTControlCharacters } from 'node:util';

/** The beginning of a text as one harmless line. */
export const shortText = (text: string, max = 300): string => clean(text.slice(0, max * 4)).slice(0, max);

/** The last lines of a text as one harmless line. */
export const lastLines = (text: string, lines = 3, max = 400): string =>
  clean(text.trim().split('\n').slice(-lines).join(' | ')).slice(-max);

const clean = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/[\u0000-\u0020\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
