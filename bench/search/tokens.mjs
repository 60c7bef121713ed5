// Counts the o200k tokens of default search answers and details over real corpora.
import { basename } from 'node:path';
import { answerTokens } from '../parts/answer-tokens.mjs';
import { median, percentile } from '../parts/statistics.mjs';
import { readCorpus, syntheticCorpus, syntheticQueries } from '../parts/tool-corpus.mjs';
import { corpusFiles } from './sets.mjs';

export const title = 'Tokens of answers (o200k)';

export const measure = async ({ sets, corpus }) => {
  const given = sets
    .filter((set) => set.given && !set.isScale)
    .flatMap(({ queries }) => queries.map(({ query }) => query));
  const queries = given.length > 0 ? given : syntheticQueries(500);
  const real = corpus !== undefined && given.length > 0;
  const corpora =
    corpus === undefined
      ? [['made-up', syntheticCorpus(1000, 10_000)]]
      : corpusFiles(corpus).map((file) => [basename(file).split('.', 1)[0], readCorpus(file)]);
  const measured = [];
  for (const [name, tools] of corpora)
    measured.push({ name, ...(await answerTokens(tools, queries, Number.POSITIVE_INFINITY)) });
  if (measured.length > 1)
    measured.push({
      name: 'all',
      answers: measured.flatMap(({ answers }) => answers),
      details: measured.flatMap(({ details }) => details),
    });
  const data = measured.map(({ name, answers, details }) => ({
    corpus: name,
    answers: figuresOf(answers),
    details: figuresOf(details),
  }));
  return { lines: data.flatMap((figures) => linesOf(figures, real)), data: { tokens: data } };
};

const figuresOf = (samples) => ({
  count: samples.length,
  median: median(samples),
  p95: percentile(samples, 0.95),
  max: Math.max(...samples),
});

const linesOf = ({ corpus, answers, details }, real) => {
  const line = (what, value, budget, note) => ({
    what: `${corpus}: ${what}`,
    value,
    unit: 'tokens',
    // The budgets are for real tools and real queries.
    ...(real && budget && { budget }),
    note,
  });
  return [
    line('search answer, median', answers.median, 200, `${answers.count} queries`),
    line('search answer, p95', answers.p95, 300, `longest ${answers.max}`),
    line('details, median', details.median, corpus === 'all' ? 100 : undefined, `${details.count} tools`),
    line('details, p95', details.p95, undefined, `longest ${details.max}`),
  ];
};
