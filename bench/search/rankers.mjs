// Defines what is compared: our ranker, what a user would otherwise choose, and ours without one part or with one part
// alone.
//
// A ranker is { title, open(lists) }; `open` indexes and returns { rank(query, limit), answer?(query) } as evaluate.ts
// takes it. Lists are those of parts/tool-corpus.mjs.
import MiniSearch from 'minisearch';
import { SearchEngine } from '../../dist/index.js';
import { searchAnswer } from '../../dist/meta-tools/search-answer.js';
import { plainBm25 } from './plain-bm25.mjs';

const toHit = ({ server, tool, relevance }) => ({ server, name: tool, relevance });

/** Our engine on lists. */
export const openEngine = (lists, options) => {
  const engine = new SearchEngine(options);
  for (const { server, metadata, about } of lists) engine.setServer(server, metadata, about);
  // The first search finishes the index.
  engine.search('');
  return engine;
};

const ours = (options) => (lists) => {
  const engine = openEngine(lists, options);
  return {
    rank: (query, limit) => engine.search(query, { limit }).map(toHit),
    answer: (query) => {
      const results = engine.search(query);
      const [{ text }] = searchAnswer(results, [], false).content;
      return { text, tools: (JSON.parse(text).results ?? []).map(toHit) };
    },
  };
};

const documentsOf = (lists) =>
  lists.flatMap(({ server, metadata }) =>
    metadata.map(({ name, description = '', inputSchema }) => ({
      server,
      name,
      description,
      parameters: Object.keys(inputSchema?.properties ?? {}).join(' '),
    })),
  );

/** The fields that served minisearch best on the dev sets; everything else is its default. */
const openMinisearch = (lists) => {
  const documents = documentsOf(lists);
  const index = new MiniSearch({ fields: ['server', 'name', 'description', 'parameters'] });
  index.addAll(documents.map((document, id) => ({ id, ...document })));
  const toTool = ({ id }) => documents[id];
  return { rank: (query, limit) => index.search(query).slice(0, limit).map(toTool) };
};

const openPlain = (lists) => ({
  rank: plainBm25(
    documentsOf(lists).map(({ server, name, description }) => ({ server, name, text: `${name} ${description}` })),
  ),
});

/** Side by side in the first table. */
export const RANKERS = {
  ours: { title: 'ours', open: ours() },
  minisearch: { title: 'minisearch, defaults', open: openMinisearch },
  bm25: { title: 'plain BM25', open: openPlain },
};

/** One arm alone. */
export const ARMS = {
  words: { title: 'words only', open: ours({ model: false }) },
  meaning: { title: 'meaning only', open: ours({ meaningWeight: 1 }) },
};

const noSynonyms = { part: 'synonyms', open: ours({ synonyms: false }), asks: ['words'] };
const without = (part, name, ...asks) => ({ part, open: ours({ without: [name] }), asks });
const weightless = (part, fields, ...asks) => ({
  part,
  open: ours({ weights: Object.fromEntries(fields.map((field) => [field, 0])) }),
  asks,
});

/**
 * Our ranker without one part; its distance to the full ranker is what the part is worth. `asks` names the variations
 * of varied-sets.mjs that need the part; `than` the key of what it is compared with, if not the full ranker.
 */
export const WITHOUT = {
  words: { part: 'meaning (the model)', open: ARMS.words.open, asks: [] },
  meaning: { part: 'words (BM25F)', open: ARMS.meaning.open, asks: [] },
  'no-phrases': { part: 'phrases of known tools', open: ours({ phrases: false }), asks: [] },
  'no-synonyms': noSynonyms,
  // Synonyms are looked up by their stems.
  'no-stems': {
    part: 'stems (without synonyms)',
    open: ours({ without: ['stems'], synonyms: false }),
    than: 'no-synonyms',
    asks: ['form'],
  },
  'no-pieces': without('words of identifiers', 'pieces'),
  'no-compounds': without('identifiers as one word', 'compounds', 'joined'),
  // Without pairs these scripts give no words at all; their vectors stay.
  'no-cjk': without('pairs of CJK characters', 'cjk', 'piece'),
  'no-typos': without('typos', 'typos', 'typo'),
  'no-prefixes': without('beginnings of words', 'prefixes', 'unfinished'),
  'no-literals': without('values count little', 'literals', 'value'),
  'no-names': without('names come first', 'names', 'name', 'names'),
  'no-languages': without('other languages', 'languages'),
  'no-stories': without('what tells counts less', 'stories'),
  'no-asking': without('words count by how much they ask', 'asking'),
  'no-acts': without('a search for each act', 'acts', 'acts', 'several', 'one'),
  'no-kinds': without('words for concrete things', 'kinds', 'concrete', 'value'),
  'no-goals': without('the act and its object', 'goals', 'plain'),
  'no-repeats': without('repeats step back', 'repeats', 'copies'),
  'no-server': weightless("words of the server's name", ['server'], 'server'),
  'no-about': without("words of the server's description", 'about', 'about'),
  'no-title': weightless('words of the title', ['title'], 'title'),
  'no-parameters': weightless(
    'words of parameters',
    ['parameterNames', 'parameterDescriptions', 'values'],
    'parameter',
  ),
  'no-values': weightless('permitted values among them', ['values'], 'permitted'),
  'no-labels': weightless('tags and keywords', ['tags', 'keywords'], 'jargon'),
  'no-hints': weightless('words of annotations', ['hints'], 'wish'),
};
