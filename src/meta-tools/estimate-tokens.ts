/**
 * Estimates the tokens of a text from above, without a tokenizer, which would take megabytes and load slowly. Runs of
 * the same kind of character are priced like the pieces of a byte-pair encoding: the first character of a run costs a
 * token, each following one a share. The shares are set so that lists of names are not underestimated against o200k,
 * including random letters and rare scripts. A short odd text may be underestimated by two tokens. Lists of real tools
 * are overestimated by a factor of two at the median.
 * @module
 */

type Kind = 'vowel' | 'consonant' | 'digit' | 'space' | 'json' | 'sign' | 'other';

const VOWELS = new Set([...'aeiouyAEIOUY']);
// Quotes, commas and braces occur together in JSON, and such runs are single tokens.
const JSON_SIGNS = new Set([...'"{},:[]']);

// Before these a space is a separate token.
const LONE_SPACE = 0.9;

/**
 * Returns an upper estimate of the tokens of a text (o200k). A space before a word is free, because the word's token
 * includes it.
 */
export function estimateTokens(text: string): number {
  let total = 0;
  let before: Kind | undefined;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const kind = kindOf(text, i, code);
    total += kind === 'other' ? costOfOther(code) : costOf(kind, before, code);
    if (before === 'space' && (kind === 'other' || kind === 'digit')) total += LONE_SPACE;
    before = kind;
  }
  return Math.ceil(total);
}

function kindOf(text: string, at: number, code: number): Kind {
  if (code > 0x7e) return 'other';
  const lower = code | 0x20;
  const sign = text.charAt(at);
  if (lower >= 0x61 && lower <= 0x7a) return VOWELS.has(sign) ? 'vowel' : 'consonant';
  if (code >= 0x30 && code <= 0x39) return 'digit';
  if (code === 0x20) return 'space';
  return JSON_SIGNS.has(sign) ? 'json' : 'sign';
}

function costOf(kind: Kind, before: Kind | undefined, code: number): number {
  switch (kind) {
    case 'digit':
      return before === 'digit' ? 0.34 : 1;
    case 'space':
      return before === 'space' ? 0.3 : 0.1;
    case 'json':
      return before === 'json' ? 0.4 : 1;
    case 'sign':
      return 1;
    default: {
      if (before !== 'vowel' && before !== 'consonant') return 1;
      if (code < 0x61) return 0.75;
      return kind === 'consonant' && before === 'consonant' ? 0.45 : 0.2;
    }
  }
}

function costOfOther(code: number): number {
  if (code < 0x180 || (code >= 0x400 && code < 0x530)) return 1.2;
  // Rare two-byte letters, and each half of a surrogate pair, can take a token per byte.
  if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) return 2;
  const eastAsian = (code >= 0x3040 && code <= 0x30ff) || (code >= 0x4e00 && code <= 0x9fff);
  return eastAsian || (code >= 0xac00 && code <= 0xd7a3) ? 2.2 : 3;
}
