/**
 * Finds characters that a person does not see: terminal sequences, tag characters, runs of variation selectors, and
 * zero-width, bidi and other invisible characters. Characters that emoji and scripts need are left alone.
 * @module
 */
import { plainText } from '../../text/plain-text.ts';

/** A rule and the part of the text that breaks it. */
export interface Sign {
  readonly rule: 'terminal-sequence' | 'tag-characters' | 'variation-selectors' | 'hidden-characters';
  readonly excerpt: string;
}

const ALL_SEEN = /^[\t\n\r\x20-\x7e]*$/;
const TERMINAL = /[\u0008\u001b\u0090\u009b\u009d]/;
/** Flags of regions are written with tag characters. */
const FLAG = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f}/gu;
const TAG = /[\u{e0000}-\u{e007f}]/u;
const TAGS = /[\u{e0020}-\u{e007e}]/gu;
/** A selector chooses the look of one sign before it: two in a row, or one after a plain letter, carry something else. */
const SELECTORS =
  /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}|(?<![\p{Script=Han}\p{S}\p{M}])[\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/u;
/** Joiners between letters of scripts that need them, and direction marks beside letters that are written from the right. */
const NEEDED =
  /(?<=[\p{Script=Arabic}\p{Mn}\p{Mc}])[\u200c\u200d](?=\p{Lo})|(?<=[\p{Script=Arabic}\p{Script=Hebrew}][ .,!?:)]?)[\u200e\u200f](?![\u200b-\u200f])/gu;
const LINE_BREAK = /[\u0085\u2028\u2029]/g;
const AROUND = 40;

/** Returns at most one sign per rule. */
export function hiddenSigns(text: string): Sign[] {
  if (ALL_SEEN.test(text)) return [];
  const signs: Sign[] = [];
  const terminal = text.search(TERMINAL);
  if (terminal >= 0) signs.push({ rule: 'terminal-sequence', excerpt: text.slice(terminal, terminal + AROUND) });
  const unflagged = text.replace(FLAG, '');
  if (TAG.test(unflagged)) signs.push({ rule: 'tag-characters', excerpt: tagText(unflagged) || 'tag characters' });
  const selectors = SELECTORS.exec(text)?.index;
  if (selectors !== undefined)
    signs.push({ rule: 'variation-selectors', excerpt: text.slice(Math.max(0, selectors - 1), selectors + AROUND) });
  // The rest of the text, without the signs found above.
  const rest = unflagged
    .replace(/[\u{e0000}-\u{e007f}\u0008\u001b\u0090\u009b\u009d]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu, '')
    .replace(NEEDED, '')
    .replace(LINE_BREAK, '\n');
  const plain = plainText(rest);
  if (plain !== rest) {
    let at = 0;
    while (at < plain.length && plain[at] === rest[at]) at++;
    signs.push({ rule: 'hidden-characters', excerpt: rest.slice(Math.max(0, at - AROUND / 2), at + AROUND) });
  }
  return signs;
}

/** Decodes the ASCII text that tag characters spell. */
export const tagText = (text: string): string =>
  (text.match(TAGS) ?? []).map((sign) => String.fromCharCode((sign.codePointAt(0) ?? 0) - 0xe0000)).join('');

/** Decodes the bytes that variation selectors stand for, as text. */
export const selectorText = (text: string): string => {
  const bytes = (text.match(/[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu) ?? []).map((sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return code < 0xe0100 ? code - 0xfe00 : code - 0xe0100 + 16;
  });
  return bytes.length < 8 ? '' : Buffer.from(bytes).toString('utf8');
};
