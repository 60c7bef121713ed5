/**
 * Text from servers made safe to show: no control, bidi, zero-width or tag characters, white space folded.
 * @module
 */

// Zero-width joiner and variation selector 16 stay: emoji need them.
const INVISIBLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/gu;
const TERMINAL_SEQUENCE =
  /\u001b(?:\[[0-9;?]{0,32}[ -/]{0,4}[@-~]|\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Removes what a terminal or a reader would not show, and cuts to a length. */
export function plainText(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const cut = text.length > maxChars * 2 ? text.slice(0, maxChars * 2) : text;
  const clean = cut.replace(TERMINAL_SEQUENCE, '').replace(INVISIBLE, '');
  return clean.length > maxChars ? `${truncate(clean, maxChars - 1)}…` : clean;
}

/** One line: plain text with white space folded. */
export function oneLine(text: string, maxChars: number): string {
  return plainText(
    plainText(text, maxChars * 4)
      .replace(/\s+/g, ' ')
      .trim(),
    maxChars,
  );
}

/** The first sentence of a description, as a summary of at most `maxChars`. */
export function firstSentence(description: string, maxChars = 100): string {
  const text = plainText(description, 2000).replace(/^[\s#>*-]+/, '');
  const paragraph = /^[^\n]*(?:\n(?!\s*\n|\s*[-*#])[^\n]*)?/.exec(text)?.[0] ?? text;
  const line = paragraph
    .replace(/[`*_]{2,}|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const end = /[.!?。！？](?=\s|$)/.exec(skipAbbreviations(line));
  const sentence = end ? line.slice(0, end.index) : line.replace(/[.:]$/, '');
  if (sentence.length <= maxChars) return sentence;
  const space = sentence.lastIndexOf(' ', maxChars - 1);
  return `${truncate(sentence, space > maxChars / 2 ? space : maxChars - 1)}…`;
}

// Same length, so that positions stay right.
const skipAbbreviations = (line: string): string =>
  line.replace(/\b(?:e\.g|i\.e|etc|vs|approx|incl)\./gi, (match) => '_'.repeat(match.length));

function truncate(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
