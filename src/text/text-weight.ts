/**
 * How much of an agent's room a text takes, without a tokenizer: text in, characters out, those that cost a token of
 * their own counted as four. A token of English or JSON weighs a good four.
 * @module
 */

/** The weight of a text. */
export function textWeight(text: string): number {
  let weight = text.length;
  for (let at = 0; at < text.length; at++) weight += extra(text.charCodeAt(at));
  return weight;
}

/** A text in pieces of at most `room` each, cut between characters. At least one, which may be empty. */
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
