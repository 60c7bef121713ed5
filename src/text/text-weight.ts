/**
 * Estimates how much of an agent's context a text takes, without a tokenizer: counts characters, and four for each that
 * costs a token of its own. A token of English or JSON weighs a little over four.
 * @module
 */

export function textWeight(text: string): number {
  let weight = text.length;
  for (let at = 0; at < text.length; at++) weight += extra(text.charCodeAt(at));
  return weight;
}

/**
 * Splits a text into pieces of at most `room` each, between characters. Returns at least one piece, which may be empty.
 */
export function weighedPages(text: string, room: number): readonly string[] {
  const pages: string[] = [];
  let start = 0;
  let weight = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const own = 1 + extra(code);
    const isSecondHalf = code >= 0xdc00 && code <= 0xdfff;
    if (weight + own > room && at > start && !isSecondHalf) {
      pages.push(text.slice(start, at));
      start = at;
      weight = 0;
    }
    weight += own;
  }
  return [...pages, text.slice(start)];
}

const extra = (code: number): number => (code > 0x7e ? 3 : 0);
