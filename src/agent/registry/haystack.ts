/**
 * Joins the texts of a group of tools, so that one string search finds the tools that contain it.
 * @module
 */
import type { MatchedTexts } from './match-level.ts';

const BETWEEN_TOOLS = '\u0000';
const BETWEEN_WORDS = '\u0001';

interface Field {
  readonly text: string;
  /** Whether any of the texts has more than one word. */
  readonly hasSpaces: boolean;
  /** Where each tool's part begins. */
  readonly starts: Uint32Array;
}

/** What to search for, best first. Each finds the tools of one literal level or better. */
export const TIERS = ['namePrefix', 'keyword', 'nameContains', 'keywordContains', 'descriptionContains'] as const;

type Tier = (typeof TIERS)[number];

export class Haystack {
  readonly #names: Field;
  readonly #keywords: Field;
  readonly #descriptions: Field;

  constructor(tools: readonly MatchedTexts[]) {
    this.#names = layOut(tools.map(({ name }) => name));
    this.#keywords = layOut(
      tools.map(({ keywords }) => `${BETWEEN_WORDS}${keywords.join(BETWEEN_WORDS)}${BETWEEN_WORDS}`),
    );
    this.#descriptions = layOut(tools.map(({ description }) => description));
  }

  /** Positions of the matching tools, in order. */
  *find(tier: Tier, needle: string): Generator<number> {
    switch (tier) {
      case 'namePrefix':
        return yield* find(this.#names, BETWEEN_TOOLS + needle, 1);
      case 'keyword':
        return yield* find(this.#keywords, BETWEEN_WORDS + needle + BETWEEN_WORDS, 0);
      case 'nameContains':
        return yield* find(this.#names, needle, 0);
      case 'keywordContains':
        return yield* find(this.#keywords, needle, 0);
      case 'descriptionContains':
        return yield* find(this.#descriptions, needle, 0);
    }
  }
}

function layOut(texts: readonly string[]): Field {
  const starts = new Uint32Array(texts.length + 1);
  let at = 1;
  for (const [position, text] of texts.entries()) {
    starts[position] = at;
    at += text.length + 1;
  }
  starts[texts.length] = at;
  const text = `${BETWEEN_TOOLS}${texts.join(BETWEEN_TOOLS)}${BETWEEN_TOOLS}`;
  return { text, hasSpaces: text.includes(' '), starts };
}

function* find({ text, hasSpaces, starts }: Field, needle: string, skip: number): Generator<number> {
  if (!hasSpaces && needle.includes(' ')) return;
  let position = 0;
  for (let at = text.indexOf(needle); at !== -1; ) {
    while ((starts[position + 1] as number) <= at + skip) position++;
    yield position;
    // One hit per tool is enough.
    at = text.indexOf(needle, (starts[position + 1] as number) - 1);
  }
}
