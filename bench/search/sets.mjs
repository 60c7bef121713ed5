// Reads sets of judged queries with their tools, and evaluates rankers on them, each once.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { evaluate } from '../../dist/search/evaluate.js';
import { corpusOf, jsonLines, syntheticCorpus, syntheticJudged, toLists } from '../parts/tool-corpus.mjs';

/** Averaged over its sources, and excluded from the macro average. */
const SCALE = 'scale';

/**
 * The requested sets: those of a folder (or of `dev` in it), pairs of files, or a synthetic one. A set is { name,
 * given, queries, lists, isScale }.
 */
export const readSets = ({ data, tools = [], queries = [] }) => {
  if (tools.length !== queries.length) throw new UsageError('every --tools needs its --queries, in the same order');
  const sets = tools.map((file, at) => readSet(basename(queries[at]).split('.', 1)[0], file, queries[at]));
  if (data !== undefined) {
    const folder = existsSync(join(data, 'dev')) ? join(data, 'dev') : data;
    const names = readdirSync(folder).flatMap((file) => /^(.+)\.queries\.jsonl(?:\.gz)?$/.exec(file)?.[1] ?? []);
    if (names.length === 0) throw new UsageError(`${folder} has no NAME.queries.jsonl or NAME.queries.jsonl.gz`);
    for (const name of names.sort())
      sets.push(readSet(name, fileOf(folder, name, 'tools'), fileOf(folder, name, 'queries')));
  }
  return sets.length > 0 ? sets : [madeUp()];
};

/** An invalid command line. */
export class UsageError extends Error {}

const fileOf = (folder, name, kind) =>
  [`${name}.${kind}.jsonl.gz`, `${name}.${kind}.jsonl`].map((file) => join(folder, file)).find(existsSync) ??
  join(folder, `${name}.${kind}.jsonl.gz`);

const readSet = (name, tools, queries) => ({
  name,
  given: true,
  isScale: name === SCALE,
  queries: jsonLines(queries),
  lists: toLists(corpusOf(jsonLines(tools))),
});

const madeUp = () => {
  const corpus = syntheticCorpus(100, 2000);
  return {
    name: 'made-up',
    given: false,
    isScale: false,
    queries: syntheticJudged(corpus, 300),
    lists: toLists(corpus),
  };
};

/** The files of a corpus: itself, or all JSON lines of the folder. */
export const corpusFiles = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => /\.jsonl(\.gz)?$/.test(name))
        .sort()
        .map((name) => join(path, name))
    : [path];

export const toolsOf = ({ lists }) => lists.reduce((sum, { metadata }) => sum + metadata.length, 0);

/** Queries of a set by what `source` says, or all in one. */
export const bySource = (outcomes) => {
  const sources = new Map();
  for (const outcome of outcomes) {
    const source = outcome.query.source ?? '';
    if (!sources.has(source)) sources.set(source, []);
    sources.get(source).push(outcome);
  }
  return sources;
};

/** What a set is averaged over: `scale` over its sources, any other over all its queries. */
export const strataOf = (set, outcomes) => (set.isScale ? [...bySource(outcomes).values()] : [outcomes]);

/** Evaluates rankers: `of(set, key, ranker)` measures once and caches the result. */
export const createEvaluations = () => {
  const known = new Map();
  // A set and its variations share an index. Ours is kept, because it is used again and again; others only while in a
  // row.
  const ours = new Map();
  let last = {};
  const opened = ({ lists }, key, { open }) => {
    if (key === 'ours' && !ours.has(lists)) ours.set(lists, open(lists));
    if (key === 'ours') return ours.get(lists);
    if (last.lists !== lists || last.key !== key) last = { lists, key, ranker: open(lists) };
    return last.ranker;
  };
  return {
    of: async (set, key, ranker) => {
      if (!known.has(set)) known.set(set, new Map());
      const outcomes = known.get(set);
      if (!outcomes.has(key)) {
        const whole = opened(set, key, ranker);
        // The first queries of a process are slow because nothing is compiled yet.
        for (const { query } of set.queries.slice(0, 30)) whole.rank(query, 10);
        const shown = key === 'ours' && set.variation === undefined;
        const options = shown ? { countTokens, depth: 100 } : {};
        outcomes.set(key, await evaluate(shown ? whole : { rank: whole.rank }, set.queries, options));
      }
      return outcomes.get(key);
    },
  };
};
