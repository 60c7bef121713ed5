/**
 * Finds the values of a request: addresses, paths, names of files, quotations, placeholders, long numbers.
 * @module
 */
import { FILE_ENDINGS } from './kinds.ts';

/** `next.js` and `node.js` are products. */
const ENDINGS = FILE_ENDINGS.filter((ending) => ending !== 'js');
const FILE = String.raw`(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]{1,64}\.(?:${ENDINGS.join('|')})(?![\p{L}\p{N}])`;
const OTHERS =
  /\bhttps?:\/\/\S+|(?<!\S)\S+@\S+|(?<!\S)(?:~|\.{1,2})?\/\S+|\b[A-Za-z]:\\\S+|"[^"\n]*"|“[^“”\n]*”|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])|<[^<>\n]*>|\b\d[\d.,:/-]{3,}/u;

/** Every alternative is linear. */
export const LITERALS = new RegExp(`${FILE}|${OTHERS.source}`, 'gu');
