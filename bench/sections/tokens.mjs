// Counts the o200k tokens that an agent reads: the five tools, search answers and details, as the JSON it is shown.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { metaToolDefinitions } from '../../dist/meta-tools/meta-tools.js';
import { answerTokens } from '../parts/answer-tokens.mjs';
import { median, percentile } from '../parts/statistics.mjs';
import { readCorpus, readQueries, syntheticCorpus, syntheticQueries } from '../parts/tool-corpus.mjs';

export const title = 'Tokens (o200k)';

const DETAILS_SAMPLE = 1500;

export const measure = async ({ corpus: corpusPath, queries: queriesPath }) => {
  const corpus = corpusPath ? readCorpus(corpusPath) : syntheticCorpus(1000, 10_000);
  const queries = queriesPath ? readQueries(queriesPath) : syntheticQueries(500);
  const note = `${queries.length} ${queriesPath ? 'given' : 'made-up'} queries, ${corpus.size} ${corpusPath ? 'given' : 'made-up'} servers`;
  const names = [...corpus.keys()];
  const metaTools = [0, 4, 50].map((count) => ({
    what: `five meta-tools, ${count} servers`,
    value: countTokens(JSON.stringify(metaToolDefinitions(names.slice(0, count)))),
    unit: 'tokens',
    budget: 600,
    note: 'aim 450',
  }));
  const { answers, details, servers } = await answerTokens(corpus, queries, DETAILS_SAMPLE);
  // The budgets are for real tools and real queries.
  const budget = (tokens) => corpusPath && queriesPath && { budget: tokens };
  return [
    ...metaTools,
    { what: 'search answer, median', value: median(answers), unit: 'tokens', ...budget(200), note },
    { what: 'search answer, p95', value: percentile(answers, 0.95), unit: 'tokens', ...budget(300) },
    {
      what: 'details, median',
      value: median(details),
      unit: 'tokens',
      ...budget(100),
      note: `${details.length} tools`,
    },
    { what: 'details, p95', value: percentile(details, 0.95), unit: 'tokens' },
    { what: 'list_mcp_servers', value: servers, unit: 'tokens', budget: 2000, note: `${corpus.size} servers` },
  ];
};
