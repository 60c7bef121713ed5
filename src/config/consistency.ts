/**
 * Checks settings that depend on each other. Takes the written values and the complete settings; returns consistent
 * settings and the contradictions. A default yields to a written value. Two written values that exclude each other are
 * an error.
 * @module
 */
import type { Settings } from './settings-schema.ts';

/** The first of each pair must not be larger than the second. */
const PAIRS = [
  ['limits', 'callIdle', 'callCeiling'],
  ['limits', 'listPage', 'list'],
  ['limits', 'drain', 'shutdown'],
  ['retry', 'initial', 'max'],
] as const;

/** Two settings that exclude each other. */
interface Contradiction {
  readonly group: string;
  readonly key: string;
  /** The part of the message after the path. */
  readonly text: string;
}

type Written = Readonly<Record<string, unknown>>;
type Numbers = Record<string, number>;

/** Adjusts defaults to what was written, and returns a problem for every contradiction. */
export function toConsistentSettings<T extends Pick<Settings, 'limits' | 'retry'>>(
  written: Written,
  settings: T,
): { readonly settings: T; readonly problems: readonly Contradiction[] } {
  const result = { ...settings, limits: { ...settings.limits }, retry: { ...settings.retry } };
  const problems: Contradiction[] = [];
  for (const [group, lower, upper] of PAIRS) {
    const values = result[group] as unknown as Numbers;
    const said = (written[group] ?? {}) as Written;
    const [low, high] = [values[lower] ?? 0, values[upper] ?? 0];
    if (low <= high) continue;
    if (said[lower] !== undefined && said[upper] !== undefined) {
      problems.push({ group, key: lower, text: `: ${low} is more than \`${group}.${upper}\`, which is ${high}` });
    } else if (said[lower] !== undefined) values[upper] = low;
    else values[lower] = high;
  }
  return { settings: result, problems };
}

/** Like `toConsistentSettings`, but reports nothing: the first of each pair is lowered. */
export function toOrderedSettings<T extends Pick<Settings, 'limits' | 'retry'>>(settings: T): T {
  const result = { ...settings, limits: { ...settings.limits }, retry: { ...settings.retry } };
  for (const [group, lower, upper] of PAIRS) {
    const values = result[group] as unknown as Numbers;
    values[lower] = Math.min(values[lower] ?? 0, values[upper] ?? 0);
  }
  return result;
}
