/**
 * A query and a tool in, why the tool has the score it has out: which words, in which fields and how, and which words are
 * alike in meaning. Data for people and for user interfaces; ranking itself never needs it.
 * @module
 */
import type { ToolMetadata } from '../core/types.ts';
import { ABOUT_IMPACT, aboutTerms, FULL_IMPACT, fieldShares, frequencyIn } from './document.ts';
import type { ScoreParts } from './fusion.ts';
import { expandAll, rarity, telling } from './keyword-ranker.ts';
import { countFor, type LiveIndex } from './live-index.ts';
import { meaningWords, toolWords } from './meaning-text.ts';
import type { ParsedQuery } from './query.ts';
import type { Field, SearchSettings } from './settings.ts';
import { stem } from './stemmer.ts';
import { isStopWord } from './stop-words.ts';

/** One word of the query that a tool has, and what it is worth. */
export interface ExplainedWord {
  /** As the query has it, stemmed. */
  readonly word: string;
  /** What the tool has for it. */
  readonly found: string;
  readonly how: 'same' | 'synonym' | 'completed' | 'typo';
  /** Where; `about` is the server's description. */
  readonly fields: readonly (Field | 'about')[];
  /** Its share of the score for words. */
  readonly points: number;
}

/** Two words that mean about the same. */
export interface ExplainedLikeness {
  readonly word: string;
  readonly found: string;
  readonly likeness: number;
}

/** Why a tool has its score. */
export interface Explanation {
  readonly server: string;
  readonly tool: string;
  /** Its name is in the query. */
  readonly named: boolean;
  readonly relevance: number;
  readonly score: ScoreParts;
  /** How far its total is ahead of the next tool if it is the best, else how far it is behind the best, below 0. */
  readonly lead: number;
  readonly words: readonly ExplainedWord[];
  /** Words of the query that nothing in the tool answers. */
  readonly missed: readonly string[];
  readonly alike: readonly ExplainedLikeness[];
}

const MOST_ALIKE = 5;
const LEAST_ALIKE = 0.45;

/** The words of the query that a tool has. */
export function explainWords(
  index: LiveIndex,
  { terms }: ParsedQuery,
  tool: ToolMetadata,
  about: string,
  settings: SearchSettings,
): Pick<Explanation, 'words' | 'missed'> {
  const shares = fieldShares(tool, settings);
  const fromServer = new Set(aboutTerms(about, settings));
  const position = index.positionOf(tool.server);
  const perfect = terms
    .filter(({ bonus }) => !bonus)
    .reduce((sum, { term, weight }) => sum + weight * rarity(index.size, countFor(index.entry(term), position)), 0);
  const words: ExplainedWord[] = [];
  const missed: string[] = [];
  for (const { term, known, alternatives } of expandAll(index, terms, settings)) {
    const options = alternatives
      .map((alternative) => {
        const { term: found, how, weight } = alternative;
        const fields = [...shares].filter(([, frequencies]) => frequencies.has(found)).map(([field]) => field);
        const frequency = frequencyIn(shares, found);
        const impact =
          frequency > 0
            ? frequency / (settings.k1 + frequency)
            : fromServer.has(found)
              ? ABOUT_IMPACT / FULL_IMPACT
              : 0;
        const points = (term.weight * weight * impact * telling(index, known, alternative, position)) / (perfect || 1);
        return { word: term.term, found, how, fields: frequency > 0 ? fields : (['about'] as const), points };
      })
      .filter(({ points }) => points > 0)
      .sort((a, b) => b.points - a.points);
    const [best] = options;
    if (best !== undefined) words.push({ ...best, points: round(best.points) });
    else if (!term.bonus) missed.push(term.term);
  }
  return { words: words.sort((a, b) => b.points - a.points), missed };
}

/** Words of the query and of the tool that the vectors hold alike, though they are not the same. */
export function explainMeaning(query: string, tool: ToolMetadata, { model }: SearchSettings): ExplainedLikeness[] {
  if (model === undefined) return [];
  const content = (words: readonly string[]): string[] => [...new Set(words)].filter((word) => !isStopWord(word));
  const parts = toolWords(tool);
  const own = content([...parts.name, ...parts.lead, ...parts.parameters]);
  const pairs: ExplainedLikeness[] = [];
  for (const word of content(meaningWords(query)).slice(0, 16)) {
    for (const found of own.slice(0, 48)) {
      const likeness = stem(word) === stem(found) ? 0 : model.likeness(word, found);
      if (likeness >= LEAST_ALIKE) pairs.push({ word, found, likeness: round(likeness) });
    }
  }
  return pairs.sort((a, b) => b.likeness - a.likeness).slice(0, MOST_ALIKE);
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
