/**
 * Ranks tools by use: a tool that was called after similar requests scores higher.
 * @module
 */
import { givenScores } from './given-scores.ts';
import type { Ranker } from './ranker.ts';

/** The ranker `use`. The caller of a search says what was learnt. */
export const use: Ranker = {
  name: 'use',
  score(search) {
    const learnt = givenScores(search, search.learnt, 0);
    return { of: (segment, document) => learnt.of(segment, document) ?? 0, candidates: () => learnt.accepted };
  },
};
