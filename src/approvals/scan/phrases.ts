/**
 * Matches phrases: words in order with a few words between them, inside one sentence. No backtracking: each phrase costs
 * at most its own length for each place where its first word stands.
 * @module
 */
import { STOP, type Word } from './words.ts';

/** One alternative of words, and how many other words may stand before it. */
interface Step {
  readonly words: ReadonlySet<string>;
  readonly gap: number;
}

/** A compiled phrase. */
export interface Phrase<R extends string> {
  readonly rule: R;
  readonly steps: readonly Step[];
}

/** Compiles `ignore|forget ~3 previous|above instructions`: `~3` allows up to three words between two steps. */
export function compilePhrase<R extends string>(rule: R, text: string): Phrase<R> {
  const steps: Step[] = [];
  let gap = 0;
  for (const part of text.split(' ')) {
    if (part.startsWith('~')) gap = Number(part.slice(1));
    else {
      steps.push({ words: new Set(part.split('|')), gap });
      gap = 0;
    }
  }
  return { rule, steps };
}

export class PhraseBook<R extends string> {
  readonly #byFirst = new Map<string, Phrase<R>[]>();

  constructor(phrases: readonly Phrase<R>[]) {
    for (const phrase of phrases)
      for (const word of phrase.steps[0]?.words ?? [])
        this.#byFirst.set(word, [...(this.#byFirst.get(word) ?? []), phrase]);
  }

  /** Returns the first match of each rule: its first and last word. */
  find(words: readonly Word[]): { readonly rule: R; readonly from: Word; readonly to: Word }[] {
    const found = new Map<R, { readonly rule: R; readonly from: Word; readonly to: Word }>();
    for (const [at, from] of words.entries()) {
      const phrases = [...(this.#byFirst.get(from.word) ?? [])];
      if (from.folded !== from.word) phrases.push(...(this.#byFirst.get(from.folded) ?? []));
      for (const phrase of phrases) {
        if (found.has(phrase.rule)) continue;
        const end = endOf(phrase, words, at);
        if (end !== undefined) found.set(phrase.rule, { rule: phrase.rule, from, to: words[end] as Word });
      }
    }
    return [...found.values()];
  }
}

/** Returns the place of the last word of a phrase that begins at `start`. */
function endOf({ steps }: Phrase<string>, words: readonly Word[], start: number): number | undefined {
  // Every place that the steps so far can end at.
  let ends = [start];
  for (const { words: wanted, gap } of steps.slice(1)) {
    const next: number[] = [];
    let reached = 0;
    for (const end of ends)
      for (let at = Math.max(end + 1, reached); at <= end + 1 + gap; at++) {
        const word = words[at];
        if (word === undefined || word.word === STOP) break;
        reached = at + 1;
        if (wanted.has(word.word) || wanted.has(word.folded)) next.push(at);
      }
    if (next.length === 0) return undefined;
    ends = next;
  }
  return ends[0];
}
