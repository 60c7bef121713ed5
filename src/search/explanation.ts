/**
 * Defines why a tool has its score, as people and user interfaces read it. Every ranker fills in its part.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Asking } from './asking-model.ts';
import type { Field } from './settings.ts';
import { isStopWord } from './stop-words.ts';

/** What a tool's score is made of: one number a ranker, and their weighted sum. */
export interface ScoreParts {
  /** How much of the request its words say. */
  readonly words: number;
  /** How alike it is in meaning, from -1 to 1; 0 without vectors. */
  readonly meaning: number;
  /** How much it was used after like requests, from 0 to 1. */
  readonly use: number;
  readonly total: number;
}

/** One word of the query that a tool has, and what it is worth. */
export interface ExplainedWord {
  /** As the query has it, stemmed. */
  readonly word: string;
  /** What the tool has for it. */
  readonly found: string;
  readonly how: 'same' | 'translation' | 'synonym' | 'completed' | 'typo';
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

/** A request in another language: its language, and what its words were taken to be in English. */
export interface ExplainedTranslation {
  /** An ISO 639 code, as `de`. */
  readonly language: string;
  readonly words: readonly { readonly word: string; readonly english: readonly string[] }[];
}

/** Why a tool has its score. */
export interface Explanation extends Details {
  readonly server: string;
  readonly tool: string;
  /** Its name is in the query. */
  readonly named: boolean;
  readonly relevance: number;
  readonly score: ScoreParts;
  /** How far its total is ahead of the next tool if it is the best, else how far it is behind the best, below 0. */
  readonly lead: number;
  /** The act and its object, if the request names them: tools that lack them count less. */
  readonly goal?: { readonly acts: readonly string[]; readonly object: readonly string[] } | undefined;
  /** The words of a long request that ask most, each with its weight from 0 to 1. */
  readonly asking?: readonly { readonly word: string; readonly weight: number }[] | undefined;
  /** Concrete things in the request, and the words that were searched for them. */
  readonly things?: readonly { readonly text: string; readonly words: string }[];
  /** There if the request is in another language than English. */
  readonly translated?: ExplainedTranslation | undefined;
  /** The acts of a request for several things, each with the tool's score for it. */
  readonly acts?: readonly { readonly text: string; readonly score: number }[];
}

/** What the rankers say about a tool. */
export interface Details {
  readonly words: readonly ExplainedWord[];
  /** Words of the query that nothing in the tool answers. */
  readonly missed: readonly string[];
  readonly alike: readonly ExplainedLikeness[];
}

/** The words that ask most. Small words (`the`, `can`) help to tell, but explain nothing to a reader. */
export const explainAsking = (asking: Asking): Explanation['asking'] =>
  [...asking]
    .filter(([word]) => !isStopWord(word))
    .sort(([, a], [, b]) => b - a)
    .slice(0, LIMITS.search.askingShown)
    .map(([word, weight]) => ({ word, weight: inThousandths(weight) }));

/** Rounds a figure of an explanation to thousandths. */
export const inThousandths = (value: number): number => Math.round(value * 1_000) / 1_000;
