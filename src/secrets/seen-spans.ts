/**
 * Finds stretches of a text as it will be shown: what is hidden in it is left out, and each stretch is given as it stands in
 * the text itself. So a text may be cleaned after it was looked through, and cleaning puts no secret together again.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { HIDDEN, HIDDEN_SIGNS, MARKS } from '../text/plain-text.ts';
import type { Span } from './mask-spans.ts';

/** A text with something left out of it. */
interface Reading {
  readonly text: string;
  /** Where a sign of it stands in the whole text. */
  readonly placeOf: (at: number) => number;
}

const ALL_SEEN = /^[\t\n\r\x20-\x7e]*$/;
/** Everything but single spaces, which stay. */
const WHITE_SPACE = / \s+|[^\S ]\s*/g;

/** What `find` finds in the text as it is, and in the text as a reader sees it. */
export function seenSpans(text: string, find: (text: string) => Span[]): Span[] {
  const spans = find(text);
  if (ALL_SEEN.test(text)) return spans;
  addFound(spans, without(whole(text), HIDDEN), text, find);
  // What stands inside a sequence is shown where only its signs are taken out.
  if (text.includes('\u001b')) addFound(spans, without(whole(text), HIDDEN_SIGNS), text, find);
  return spans;
}

/**
 * The same for values that are known: also where marks of Markdown stand inside, and with `folded`, where white space in
 * them is written in another way.
 */
export function seenValueSpans(text: string, find: (text: string) => Span[], folded: boolean): Span[] {
  const spans = seenSpans(text, find);
  const seen = ALL_SEEN.test(text) ? whole(text) : without(whole(text), HIDDEN);
  const readings = [...(folded ? [seen] : []), without(seen, MARKS)];
  for (const reading of readings) addFound(spans, folded ? without(reading, WHITE_SPACE, ' ') : reading, text, find);
  return spans;
}

/** A secret as a reader sees it. */
export const asSeen = (text: string): string => withoutHidden(text).replace(WHITE_SPACE, ' ');

/** A text without what is hidden in it. */
export const withoutHidden = (text: string): string => (ALL_SEEN.test(text) ? text : text.replace(HIDDEN, ''));

/** Where a text may be cut so that `count` signs that are seen stand behind `from`. */
export function endBehind(text: string, from: number, count: number): number {
  for (let length = count; ; length *= 2) {
    const end = from + Math.min(length, LIMITS.secrets.ahead);
    if (end >= text.length) return text.length;
    const seen = asSeen(text.slice(from, end)).replace(MARKS, '');
    if (length >= LIMITS.secrets.ahead || seen.length >= count) return end;
  }
}

/** Where the last `count` signs that are not hidden begin; 0 where there are not so many. */
export function startBefore(text: string, count: number): number {
  for (let length = count; length < text.length; length *= 2)
    if (withoutHidden(text.slice(-length)).length >= count) return text.length - length;
  return 0;
}

function addFound(spans: Span[], reading: Reading, text: string, find: (text: string) => Span[]): void {
  if (reading.text === text) return;
  for (const [from, to] of find(reading.text)) spans.push([reading.placeOf(from), reading.placeOf(to - 1) + 1]);
}

const whole = (text: string): Reading => ({ text, placeOf: (at) => at });

/** A reading without what matches, or with `instead` in its place. */
function without({ text, placeOf }: Reading, pattern: RegExp, instead = ''): Reading {
  // Beginnings of the pieces that stay, there and here.
  const here: number[] = [];
  const there: number[] = [];
  let out = '';
  let last = 0;
  const add = (piece: string, at: number) => {
    if (piece === '') return;
    here.push(out.length);
    there.push(at);
    out += piece;
  };
  for (const { 0: match, index } of text.matchAll(pattern)) {
    add(text.slice(last, index), last);
    add(instead, index);
    last = index + match.length;
  }
  if (last === 0) return { text, placeOf };
  add(text.slice(last), last);
  return {
    text: out,
    placeOf: (at) => {
      let [low, high] = [0, here.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((here[middle] as number) <= at) low = middle + 1;
        else high = middle;
      }
      return placeOf((there[low - 1] ?? 0) + at - (here[low - 1] ?? 0));
    },
  };
}
