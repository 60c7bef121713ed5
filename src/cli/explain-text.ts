/**
 * Why a hit was found, as a few lines for people.
 * @module
 */

import type { Explanation } from '../search/explanation.ts';
import { oneLine } from '../text/plain-text.ts';

const percent = (share: number): string => `${Math.round(share * 100)}%`;

const HOW = { same: '', synonym: ' (synonym)', completed: ' (begins so)', typo: ' (spelled alike)' } as const;

/** Lines that say what made a score. */
export function explainLines({ named, score, words, missed, alike }: Explanation): string[] {
  const found = words.map(({ word, found: own, how, fields, points }) => {
    const what = word === own ? word : `${word} → ${own}`;
    return `${oneLine(what, 80)}${HOW[how]} in ${fields.join(', ')}: ${percent(points)}`;
  });
  const alikeWords = alike.map(
    ({ word, found: own, likeness }) => `${oneLine(`${word} ~ ${own}`, 80)} ${percent(likeness)}`,
  );
  return [
    ...(named ? ['Its name is in the query, so it comes first.'] : []),
    `Words ${percent(score.words)}, meaning ${percent(score.meaning)}${score.use > 0 ? `, use ${percent(score.use)}` : ''}.`,
    ...found.map((line) => `  ${line}`),
    ...(missed.length > 0 ? [`  not found: ${oneLine(missed.join(', '), 200)}`] : []),
    ...(alikeWords.length > 0 ? [`  alike in meaning: ${alikeWords.join(', ')}`] : []),
  ];
}
