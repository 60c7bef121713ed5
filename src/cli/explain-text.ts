/**
 * Explains the percentage of a search result in a few lines.
 * @module
 */

import type { ExplainedTranslation, Explanation } from '../search/explanation.ts';
import { oneLine } from '../text/plain-text.ts';

const points = (share: number): number => Math.round(share * 100);

const HOW = {
  same: '',
  translation: ' (translation)',
  synonym: ' (synonym)',
  completed: ' (begins like it)',
  typo: ' (similar spelling)',
} as const;

/** `parameterNames` as two words. */
const spaced = (field: string): string => field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The word of a text that a stem was made of, or the stem: `issue` for `issu`. */
const wholeWord = (stem: string, text: string): string =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .find((word) => word.startsWith(stem) && word.length <= stem.length + 4) ?? stem;

/**
 * The percentage first, then the score it follows from, then the words that made the score.
 * @param query the user's words, as `text` has the tool's: an explanation contains only their stems
 */
export function explainLines(explanation: Explanation, query: string, text: string): string[] {
  const { score, words, missed, alike, translated, goal, asking, things = [], acts = [] } = explanation;
  const found = words.map(({ word, found: own, how, fields, points: share }) => {
    const [asked, has] = [wholeWord(word, query), wholeWord(own, text)];
    const what = word === own ? asked : `${asked} → ${has}`;
    return `${oneLine(what, 80)}${HOW[how]} in ${fields.map(spaced).join(', ')}: ${points(share)}`;
  });
  const alikeWords = alike.map(
    ({ word, found: own, likeness }) => `${oneLine(`${word} ~ ${own}`, 80)} ${points(likeness)}`,
  );
  const parts = [
    `words ${points(score.words)}`,
    `meaning ${points(score.meaning)}`,
    ...(score.use > 0 ? [`use ${points(score.use)}`] : []),
  ];
  return [
    percentLine(explanation),
    `Score ${points(score.total)} of 100: ${parts.join(', ')}.`,
    ...(translated === undefined ? [] : [translationLine(translated)]),
    ...(asking === undefined ? [] : [`  most weight on: ${oneLine(asking.map(({ word }) => word).join(', '), 200)}`]),
    ...things.map((thing) => `  ${oneLine(`${thing.text}: ${thing.words}`, 200)}`),
    ...acts.map((act) => `  asks ${oneLine(JSON.stringify(act.text), 200)}: ${points(act.score)}`),
    ...(goal === undefined ? [] : [`  asks to ${oneLine(`${goal.acts[0]}: ${goal.object.join(' ')}`, 200)}`]),
    ...found.map((line) => `  ${line}`),
    ...(missed.length > 0
      ? [`  not found: ${oneLine(missed.map((word) => wholeWord(word, query)).join(', '), 200)}`]
      : []),
    ...(alikeWords.length > 0 ? [`  similar in meaning: ${alikeWords.join(', ')}`] : []),
  ];
}

const NAMES = new Intl.DisplayNames('en', { type: 'language' });

const translationLine = ({ language, words }: ExplainedTranslation): string =>
  `  in ${NAMES.of(language)}: ${oneLine(words.map(({ word, english }) => `${word} → ${english.join(' or ')}`).join(', '), 200)}`;

/** A percentage says how often a result like this one is the right one, so the distance to other tools counts. */
function percentLine({ relevance, named, lead, score }: Explanation): string {
  if (named && relevance === 1) return '100%: the query names this tool.';
  const distance = Math.abs(points(lead));
  const place =
    lead < 0
      ? distance === 0
        ? 'about level with the best tool'
        : `${distance} behind the best tool`
      : distance === 0
        ? 'about level with the next tool'
        : `${distance} ahead of the next tool`;
  const first = named ? 'The query names it. ' : '';
  return `${first}Of the results with a score of ${points(score.total)}, ${place}, about ${points(relevance)}% are the right tool.`;
}
