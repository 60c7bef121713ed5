/**
 * Parses plain JSON, as most files are: V8 does it many times faster than the parser that knows comments and says where a
 * mistake is.
 * @module
 */
import { surveyed } from '../json/json-survey.ts';

/** Returns the value; undefined if the text is no JSON, is nested deep or has a key twice. */
export function plainJson(text: string): unknown {
  const { values, excess } = surveyed(Buffer.from(text), text.length);
  if (excess !== undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // Of a key that is written twice, JSON.parse keeps one.
    return values === countedIn(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Counts as the survey of a text does: containers, and the commas between what they hold. */
function countedIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return items.reduce<number>((sum, item) => sum + countedIn(item), Math.max(1, items.length));
}
