/**
 * Turns a word into the term that it is indexed and looked up by.
 * @module
 */
import type { Parts } from './settings.ts';
import { stem } from './stemmer.ts';
import type { Word } from './tokenizer.ts';

/** Chinese, Japanese and Korean begin here. */
const FIRST_CJK = 0x2e80;

/** The term of a word; undefined for one that is left out. */
export function toTerm({ text, kind }: Word, parts: Parts): string | undefined {
  if (kind === 'compound') return parts.compounds ? text : undefined;
  if (kind === 'part' && !parts.pieces) return undefined;
  if (!parts.cjk && text.charCodeAt(0) >= FIRST_CJK) return undefined;
  return parts.stems ? stem(text) : text;
}
