/**
 * Finds the values of a request: addresses, paths, quotations, placeholders, long numbers.
 * @module
 */

/** Every alternative is linear. */
export const LITERALS =
  /\bhttps?:\/\/\S+|(?<!\S)\S+@\S+|(?<!\S)(?:~|\.{1,2})?\/\S+|\b[A-Za-z]:\\\S+|"[^"\n]*"|“[^“”\n]*”|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])|<[^<>\n]*>|\b\d[\d.,:/-]{3,}/gu;
