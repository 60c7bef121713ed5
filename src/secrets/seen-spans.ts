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
  /** Maps a span to the original text. */
  readonly placeOf: (span: Span) => Span;
}

const ALL_SEEN = /^[\t\n\r\x20-\x7e]*$/;
/** Spellings of a character in URLs, JSON and HTML. Neighbours are read together: a character may have several bytes. */
const ESCAPES = /(?:%[\da-f]{2})+|\\u[\da-f]{4}|\\["'/\\bfnrt]|&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);/gi;
const MAY_ESCAPE = /[%\\&]/;
const PLUS = /\+/g;
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
 * Like `seenSpans`, for known values: also matches with Markdown marks inside, in any spelling of URLs, JSON and HTML,
 * and with `folded`, with white space written differently.
 */
export function seenValueSpans(text: string, find: (text: string) => Span[], folded: boolean): Span[] {
  const spans = seenSpans(text, find);
  const seen = ALL_SEEN.test(text) ? whole(text) : without(whole(text), HIDDEN);
  const readings = [...(folded ? [seen] : []), without(seen, MARKS), ...decoded(seen)];
  // In forms a space is a plus sign.
  if (folded) readings.push(...decoded(without(seen, PLUS, ' ')));
  for (const reading of readings) {
    addFound(spans, reading, text, find);
    if (folded) addFound(spans, without(reading, WHITE_SPACE, ' '), text, find);
  }
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
  for (const span of find(reading.text)) spans.push(reading.placeOf(span));
}

const whole = (text: string): Reading => ({ text, placeOf: (span) => span });

/** Returns the text without its escapes, then without those that this has brought up, and so on. */
function decoded(seen: Reading): readonly Reading[] {
  const readings: Reading[] = [];
  for (let last = seen; readings.length < LIMITS.secrets.rounds && MAY_ESCAPE.test(last.text); ) {
    const next = without(last, ESCAPES, unescaped);
    if (next.text === last.text) break;
    readings.push(next);
    last = next;
  }
  return readings;
}

const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(spelling: string): string {
  const letter = spelling[1] as string;
  if (spelling.startsWith('%')) return Buffer.from(spelling.replaceAll('%', ''), 'hex').toString('utf8');
  if (spelling.startsWith('&')) {
    const name = spelling.slice(1, -1).toLowerCase();
    const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return ENTITIES[name] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : spelling);
  }
  return spelling.length > 2
    ? String.fromCharCode(Number.parseInt(spelling.slice(2), 16))
    : (CONTROLS[letter] ?? letter);
}

/** A piece of a reading: where it starts there and in its source, and how long the replaced text is in the source. */
interface Piece {
  readonly here: number;
  readonly there: number;
  readonly replaced: number | undefined;
}

/** Returns a reading without the matches, or with others in their place. */
function without(
  { text, placeOf }: Reading,
  pattern: RegExp,
  instead: string | ((match: string) => string) = '',
): Reading {
  const pieces: Piece[] = [];
  let out = '';
  let last = 0;
  const add = (piece: string, there: number, replaced?: number) => {
    if (piece === '') return;
    pieces.push({ here: out.length, there, replaced });
    out += piece;
  };
  for (const { 0: match, index } of text.matchAll(pattern)) {
    add(text.slice(last, index), last);
    add(typeof instead === 'string' ? instead : instead(match), index, match.length);
    last = index + match.length;
  }
  if (last === 0) return { text, placeOf };
  add(text.slice(last), last);
  const pieceAt = (at: number): Piece => {
    let [low, high] = [0, pieces.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pieces[middle] as Piece).here <= at) low = middle + 1;
      else high = middle;
    }
    return pieces[low - 1] as Piece;
  };
  return {
    text: out,
    placeOf: ([from, to]) => {
      const [first, end] = [pieceAt(from), pieceAt(to - 1)];
      // A span in a replaced piece stands for all of what was replaced.
      return placeOf([
        first.there + (first.replaced === undefined ? from - first.here : 0),
        end.there + (end.replaced ?? to - end.here),
      ]);
    },
  };
}
