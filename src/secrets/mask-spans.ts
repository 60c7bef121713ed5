/**
 * Replaces stretches of a text by a mask, then cuts it. Cutting here, and nowhere before, is what keeps half a secret from
 * slipping through: a stretch that begins before the cut is masked whole.
 * @module
 */

/** Stands where a secret stood. */
export const MASK = '***';

/** A stretch of a text: its first position, and the one after its last. */
export type Span = readonly [from: number, to: number];

/** The text with these stretches masked, as far as `maxChars` of it. Stretches may overlap and come in any order. */
export function maskSpans(text: string, spans: Span[], maxChars = Number.POSITIVE_INFINITY): string {
  const end = Math.min(text.length, maxChars);
  if (spans.length === 0) return end === text.length ? text : withoutHalf(text.slice(0, end));
  spans.sort((a, b) => a[0] - b[0]);
  let out = '';
  let shown = 0;
  for (const [from, to] of spans) {
    if (from >= end) break;
    // Secrets that overlap are hidden as one stretch, so that no end of the second one stays readable.
    if (from >= shown) out += text.slice(shown, from) + MASK;
    shown = Math.max(shown, to);
  }
  if (shown < end) out += text.slice(shown, end);
  return out.length > maxChars ? withoutHalf(out.slice(0, maxChars)) : out;
}

/** Where a text can be divided at `at` or a little later: not inside a stretch. */
export const beyondSpans = (spans: readonly Span[], at: number): number =>
  spans.reduce((end, [from, to]) => (from < at ? Math.max(end, to) : end), at);

/** Without the first half of a character at its end. */
const withoutHalf = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');
