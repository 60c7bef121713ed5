// Measures how agents may ask: the whole task as one query, or one query in English for each act. Tasks and queries were written
// for the tools of a workplace (test/fixtures/search/tasks.txt).
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { searchAnswer } from '../../dist/meta-tools/search-answer.js';
import { difference } from '../../dist/search/evaluate.js';
import { points } from './quality.mjs';
import { openEngine } from './rankers.mjs';
import { writtenTasks, writtenTools } from './written-sets.mjs';

export const title = 'The whole task as one query, or one query for each act';

const FIRST = 5;

export const measure = () => {
  const engine = openEngine(writtenTools());
  const ask = (query) => {
    const [{ text }] = searchAnswer(engine.search(query), [], false).content;
    const hits = (JSON.parse(text).results ?? []).map(({ server, tool }) => `${server}:${tool}`);
    return { tokens: countTokens(text) + countTokens(query), hits };
  };
  const tasks = writtenTasks();
  const styles = {
    'the whole task': (task) => {
      const answer = ask(task.text);
      return { answers: [answer], needs: task.needs.map(({ tools }) => ({ tools, answer })) };
    },
    'one act a query, in English': (task) => {
      const needs = task.needs.map(({ query, tools }) => ({ tools, answer: ask(query) }));
      return { answers: needs.map(({ answer }) => answer), needs };
    },
  };
  const rows = Object.entries(styles).map(([style, run]) => {
    const asked = tasks.map(run);
    const found = (most) =>
      asked.map(({ needs }) =>
        share(needs, ({ tools, answer }) => tools.some((tool) => answer.hits.slice(0, most).includes(tool))),
      );
    const first = asked.map(({ answers, needs }) =>
      share(answers, ({ hits }) => needs.some(({ tools }) => tools.includes(hits[0]))),
    );
    return {
      style,
      queries: average(asked.map(({ answers }) => answers.length)),
      hit1: average(first),
      recall5: average(found(FIRST)),
      shown: average(found(Number.POSITIVE_INFINITY)),
      tokens: average(asked.map(({ answers }) => answers.reduce((sum, { tokens }) => sum + tokens, 0))),
      recalls: found(FIRST),
    };
  });
  const toOutcomes = (values) => [
    values.map((value, at) => ({ query: { query: tasks[at].text }, figures: { ndcg10: value } })),
  ];
  const [whole, single] = rows;
  const ahead = difference(toOutcomes(single.recalls), toOutcomes(whole.recalls));
  return {
    data: { rows: rows.map(({ recalls: _, ...row }) => row), ahead },
    lines: [],
    tables: [
      {
        title: `${tasks.length} tasks; recall@5 with one query an act is ${points(ahead.value)} points ahead (${points(ahead.low)} to ${points(ahead.high)})`,
        head: ['', 'queries a task', 'hit@1', 'recall@5', 'in the answer', 'tokens a task'],
        rows: rows.map(({ style, queries, hit1, recall5, shown, tokens }) => [
          style,
          queries.toFixed(2),
          points(hit1),
          points(recall5),
          points(shown),
          tokens.toFixed(0),
        ]),
      },
    ],
  };
};

const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const share = (list, passes) => list.filter(passes).length / list.length;
