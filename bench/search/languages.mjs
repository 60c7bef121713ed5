// Measures requests in other languages: those of test/fixtures/search for its sixty tools, requests in English for tools that are
// described in another language and have no telling name, and, with --translations, those of a file for the queries of the sets (a head `id TAB zh TAB ja …`, then one query a line). Each language is compared with
// English, and with search without the part `languages`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createJiti } from 'jiti';
import { difference, evaluate, summarize } from '../../dist/search/evaluate.js';
import { points } from './quality.mjs';
import { openEngine } from './rankers.mjs';

export const title = 'Requests in other languages (nDCG@10 in points)';

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/search');

/** Rows of tab-separated values by the names in the head. */
const rowsOf = (file) => {
  const [head, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const names = head.split('\t');
  return lines.map((line) => Object.fromEntries(line.split('\t').map((cell, at) => [names[at], cell])));
};

export const measure = async ({ sets, translations }) => {
  const { CATALOGUE, english } = await fixtures();
  const groups = [
    ofRequests(
      'requests-in-other-languages.tsv',
      'written for the sixty tools of test/fixtures/search',
      CATALOGUE,
      english,
    ),
    ofRequests('requests-in-further-languages.tsv', 'written for twenty of them, in plainer words', CATALOGUE, english),
    ofRequests('requests-in-inflected-forms.tsv', 'written for thirty others of them, in any form', CATALOGUE, english),
    ofTools(CATALOGUE, english),
  ];
  if (translations !== undefined) groups.push(ofSets(sets, rowsOf(translations)));
  const results = [];
  for (const { name, tasks } of groups) {
    const languages = [
      ...new Set(tasks.flatMap(({ queries }) => queries.flatMap((query) => Object.keys(query.texts)))),
    ];
    const outcomes = new Map(languages.map((language) => [language, { with: [], without: [] }]));
    for (const { lists, queries } of tasks) {
      for (const [key, options] of [
        ['with', {}],
        ['without', { without: ['languages'] }],
      ]) {
        const engine = openEngine(lists, options);
        const rank = (query, limit) =>
          engine.search(query, { limit }).map(({ server, tool }) => ({ server, name: tool }));
        for (const language of languages) {
          const asked = queries.flatMap(({ texts, relevant }) =>
            texts[language] ? [{ query: texts[language], relevant }] : [],
          );
          outcomes.get(language)[key].push(...(await evaluate({ rank }, asked)));
        }
      }
    }
    results.push({ name, outcomes });
  }
  return {
    data: { groups: results.map(({ name, outcomes }) => ({ name, languages: figuresOf(outcomes) })) },
    lines: [],
    tables: results.map(({ name, outcomes }) => ({
      title: name,
      head: ['', 'queries', 'nDCG@10', 'hit@1', 'of English', 'worth of the part'],
      rows: figuresOf(outcomes).map(({ language, queries, ndcg10, hit1, ofEnglish, worth }) => [
        language,
        String(queries),
        points(ndcg10),
        points(hit1),
        `${points(ofEnglish)} %`,
        `${points(worth.value)} (${points(worth.low)} to ${points(worth.high)})`,
      ]),
    })),
  };
};

const figuresOf = (outcomes) => {
  const english = summarize([outcomes.get('en').with]).figures.ndcg10.value;
  return [...outcomes].map(([language, { with: own, without }]) => {
    const { figures, queries } = summarize([own]);
    return {
      language,
      queries,
      ndcg10: figures.ndcg10.value,
      hit1: figures.hit1.value,
      ofEnglish: figures.ndcg10.value / english,
      worth: difference([own], [without]),
    };
  });
};

async function fixtures() {
  const jiti = createJiti(import.meta.url);
  const { CATALOGUE } = await jiti.import(join(FIXTURES, 'catalogue.ts'));
  const { PARAPHRASES } = await jiti.import(join(FIXTURES, 'paraphrases.ts'));
  return { CATALOGUE, english: new Map(PARAPHRASES.map(([request, wanted]) => [wanted, request])) };
}

const listsOf = (tools) =>
  [...new Set(tools.map(({ server }) => server))].map((server) => ({
    server,
    metadata: tools.filter((tool) => tool.server === server),
  }));

function ofRequests(file, name, tools, english) {
  const queries = rowsOf(join(FIXTURES, file)).map(({ tool, ...texts }) => {
    const [server, called] = tool.split(':');
    return { texts: { en: english.get(tool), ...texts }, relevant: [{ server, name: called }] };
  });
  return { name, tasks: [{ lists: listsOf(tools), queries }] };
}

/** A task for each language that the tools are described in. */
function ofTools(tools, english) {
  const rows = rowsOf(join(FIXTURES, 'tools-in-other-languages.tsv'));
  const described = new Map(tools.map(({ server, name, description }) => [`${server}:${name}`, description]));
  const tasks = ['en', ...Object.keys(rows[0]).slice(1)].map((language) => {
    const named = rows.map((row, at) => ({
      server: 'one',
      name: `t${at}`,
      text: row[language] ?? described.get(row.tool),
    }));
    const queries = rows.map(({ tool }, at) => ({
      texts: { [language]: english.get(tool) },
      relevant: [{ server: 'one', name: `t${at}` }],
    }));
    const metadata = named.map(({ text, ...tool }) => ({
      ...tool,
      summary: text,
      description: text,
      enabled: true,
      tags: [],
    }));
    return { lists: listsOf(metadata), queries };
  });
  return { name: 'requests in English for tools that are described in another language', tasks };
}

function ofSets(sets, rows) {
  const tasks = sets
    .filter(({ isScale }) => !isScale)
    .map(({ lists, queries }) => ({
      lists,
      queries: rows.flatMap(({ id, ...texts }) => {
        const query = queries.find((one) => one.id === id);
        return query === undefined ? [] : [{ texts: { en: query.query, ...texts }, relevant: query.relevant }];
      }),
    }));
  return { name: 'translated queries of the sets', tasks };
}
