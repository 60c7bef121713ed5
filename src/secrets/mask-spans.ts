/**
 * Masks spans of a text, then cuts it. The cut must come last, so that half a secret cannot leak: a span that starts
 * before the cut is masked whole.
 * @module
 */

/** Replaces a secret. */
export const MASK = '***';

/** A span of a text: its first position, and the position after its last. */
export type Span = readonly [from: number, to: number];

/** Returns the text with these spans masked, cut to `maxChars`. Spans may overlap and come in any order. */
export function maskSpans(text: string, spans: Span[], maxChars = Number.POSITIVE_INFINITY): string {
  const end = Math.min(text.length, maxChars);
  if (spans.length === 0) return end === text.length ? text : withoutHalf(text.slice(0, end));
  spans.sort((a, b) => a[0] - b[0]);
  let out = '';
  let shown = 0;
  for (const [from, to] of spans) {
    if (from >= end) break;
    // Overlapping secrets are masked as one span, so that no end of the second stays readable.
    if (from >= shown) out += text.slice(shown, from) + MASK;
    shown = Math.max(shown, to);
  }
  if (shown < end) out += text.slice(shown, end);
  return out.length > maxChars ? withoutHalf(out.slice(0, maxChars)) : out;
}

/** Returns the first position from `at` that is not inside a span. */
export const beyondSpans = (spans: readonly Span[], at: number): number =>
  spans.reduce((end, [from, to]) => (from < at ? Math.max(end, to) : end), at);

/** Drops half a surrogate pair at the end. */
const withoutHalf = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');
