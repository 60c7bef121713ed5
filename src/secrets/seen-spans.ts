/**
 * Finds spans of a text as a reader would see it: hidden characters are left out, and each span is reported by its
 * position in the original text. Removing hidden characters later therefore cannot reassemble a secret.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { HIDDEN, HIDDEN_SIGNS, MARKS } from '../text/plain-text.ts';
import type { Span } from './mask-spans.ts';

/** A text with parts left out. */
interface Reading {
  readonly text: string;
  /** Maps a position to the original text. */
  readonly placeOf: (at: number) => number;
}

const ALL_SEEN = /^[\t\n\r\x20-\x7e]*$/;
/** All white space except single spaces. */
const WHITE_SPACE = / \s+|[^\S ]\s*/g;

/** Returns the matches of `find` in the text as written and as a reader sees it. */
export function seenSpans(text: string, find: (text: string) => Span[]): Span[] {
  const spans = find(text);
  if (ALL_SEEN.test(text)) return spans;
  addFound(spans, without(whole(text), HIDDEN), text, find);
  // Some displays remove only the control characters of an escape sequence and show the rest.
  if (text.includes('\u001b')) addFound(spans, without(whole(text), HIDDEN_SIGNS), text, find);
  return spans;
}

/**
 * Like `seenSpans`, for known values: also matches with Markdown marks inside, and with `folded`, with white space
 * written differently.
 */
export function seenValueSpans(text: string, find: (text: string) => Span[], folded: boolean): Span[] {
  const spans = seenSpans(text, find);
  const seen = ALL_SEEN.test(text) ? whole(text) : without(whole(text), HIDDEN);
  const readings = [...(folded ? [seen] : []), without(seen, MARKS)];
  for (const reading of readings) addFound(spans, folded ? without(reading, WHITE_SPACE, ' ') : reading, text, find);
  return spans;
}

/** Returns a secret as a reader sees it. */
export const asSeen = (text: string): string => withoutHidden(text).replace(WHITE_SPACE, ' ');

export const withoutHidden = (text: string): string => (ALL_SEEN.test(text) ? text : text.replace(HIDDEN, ''));

/** Returns where to cut a text so that `count` visible characters follow `from`. */
export function endBehind(text: string, from: number, count: number): number {
  for (let length = count; ; length *= 2) {
    const end = from + Math.min(length, LIMITS.secrets.ahead);
    if (end >= text.length) return text.length;
    const seen = asSeen(text.slice(from, end)).replace(MARKS, '');
    if (length >= LIMITS.secrets.ahead || seen.length >= count) return end;
  }
}

/** Returns where the last `count` visible characters start; 0 if there are fewer. */
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

/** Returns a reading without the matches, or with `instead` in their place. */
function without({ text, placeOf }: Reading, pattern: RegExp, instead = ''): Reading {
  // Start positions of the kept pieces, in the result and in the source.
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
