#!/usr/bin/env node
/**
 * Reads everything the model learns from and writes it as numbers for `train.py`.
 *
 *   node training/prepare.mjs --corpus DIR --pairs FILE --glove FILE --wordnet DIR --out DIR [--words N]
 *
 * Words come from the package's own tokenizer (`npm run build` first), so that training and search read alike.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { MEANING_PARTS, meaningWords, toolWords } from '../dist/search/meaning-text.js';

const { values: args } = parseArgs({
  options: {
    corpus: { type: 'string' },
    pairs: { type: 'string' },
    glove: { type: 'string' },
    wordnet: { type: 'string' },
    requests: { type: 'string', default: join(import.meta.dirname, 'requests.jsonl') },
    stories: { type: 'string', default: join(import.meta.dirname, 'stories.jsonl') },
    out: { type: 'string' },
    words: { type: 'string', default: '36000' },
  },
});
for (const name of ['corpus', 'pairs', 'glove', 'wordnet', 'out'])
  if (args[name] === undefined) throw new Error(`--${name} is needed.`);

const inputs = {};
const read = (file) => {
  const bytes = readFileSync(file);
  inputs[file.split('/').at(-1)] = createHash('sha256').update(bytes).digest('hex');
  return file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
};
const lines = (file) =>
  read(file)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Tools, each once, by server and name. */
const tools = new Map();
const addTool = (server, tool) => {
  const key = `${server}\n${tool.name}`;
  if (!tools.has(key)) {
    const metadata = {
      ...tool,
      server,
      summary: '',
      tags: [],
      enabled: true,
      inputSchema: tool.inputSchema ?? undefined,
    };
    tools.set(key, { parts: toolWords(metadata), server });
  }
};
for (const list of lines(join(args.corpus, 'servers.jsonl.gz')))
  for (const tool of list.tools) addTool(list.server, tool);
for (const tool of lines(join(args.corpus, 'mcp-real.tools.jsonl.gz'))) addTool(tool.server, tool);

const keys = [...tools.keys()];
const places = new Map(keys.map((key, place) => [key, place]));
const requests = [];
for (const { server, tool, requests: written } of lines(args.requests)) {
  const place = places.get(`${server}\n${tool}`);
  if (place === undefined) continue;
  for (const request of written) requests.push({ place, words: meaningWords(request) });
}
for (const { server, tool, story, heldOut } of lines(args.stories)) {
  const place = places.get(`${server}\n${tool}`);
  if (place !== undefined) requests.push({ place, words: meaningWords(story), story: true, heldOut });
}

const pairs = lines(args.pairs).map(({ query, tool, source }) => {
  const [name = '', ...rest] = tool.split('. ');
  return {
    words: meaningWords(query),
    parts: {
      server: [],
      name: meaningWords(name, 24),
      lead: meaningWords(rest.join('. '), 32),
      rest: [],
      parameters: [],
    },
    source,
  };
});

/** WordNet: what is said in a gloss and the words it explains; lemmas of one synset. */
const glosses = [];
for (const kind of ['noun', 'verb', 'adj', 'adv']) {
  for (const line of read(join(args.wordnet, `data.${kind}`))
    .toString()
    .split('\n')) {
    if (!/^\d{8} /.test(line)) continue;
    const [head, gloss = ''] = line.split(' | ');
    const fields = head.split(' ');
    const count = Number.parseInt(fields[3], 16);
    const lemmas = Array.from({ length: count }, (_, i) =>
      fields[4 + 2 * i].replace(/\(.*\)$/, '').replaceAll('_', ' '),
    );
    glosses.push({ lemmas: lemmas.map((lemma) => meaningWords(lemma)), gloss: meaningWords(gloss.split(';')[0], 24) });
  }
}

const counts = new Map();
const count = (words, weight) => {
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + weight);
};
for (const { parts } of tools.values()) for (const part of MEANING_PARTS) count(parts[part], 1);
for (const { words } of requests) count(words, 3);
for (const { words, parts } of pairs) {
  count(words, 1);
  count(parts.name, 1);
  count(parts.lead, 1);
}

const glove = JSON.parse(read(args.glove).toString());
const plain = /^[\p{L}\p{N}]+$/u;
const vocabulary = [...counts]
  .filter(([word, times]) => times >= 3 && word.length <= 32)
  .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  .map(([word]) => word)
  .slice(0, Number(args.words));
const known = new Set(vocabulary);
for (const word of glove.words) {
  if (known.size >= Number(args.words)) break;
  if (plain.test(word) && !/^\d+$/.test(word) && word.length > 1 && !known.has(word)) {
    known.add(word);
    vocabulary.push(word);
  }
}
const numbers = new Map(vocabulary.map((word, number) => [word, number]));
const base = new Float32Array(vocabulary.length * 100);
let covered = 0;
for (const [number, word] of vocabulary.entries()) {
  const vector = Object.hasOwn(glove.vectors, word) ? glove.vectors[word] : undefined;
  if (vector === undefined) continue;
  covered++;
  base.set(vector.slice(0, 100), number * 100);
}

const ids = (words) => words.map((word) => numbers.get(word)).filter((number) => number !== undefined);
const partIds = (parts) => MEANING_PARTS.map((part) => ids(parts[part]));
mkdirSync(args.out, { recursive: true });
const write = (name, value) => writeFileSync(join(args.out, name), value);
const jsonLines = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
write('vocabulary.json', JSON.stringify(vocabulary));
write('glove.f32', new Uint8Array(base.buffer));
write('tools.jsonl', jsonLines([...tools.values()].map(({ parts, server }) => ({ server, parts: partIds(parts) }))));
write('requests.jsonl', jsonLines(requests.map(({ words, ...request }) => ({ ...request, words: ids(words) }))));
write(
  'pairs.jsonl',
  jsonLines(pairs.map(({ words, parts, source }) => ({ words: ids(words), parts: partIds(parts), source }))),
);
write(
  'glosses.jsonl',
  jsonLines(
    glosses
      .map(({ lemmas, gloss }) => ({ lemmas: lemmas.map(ids).filter((list) => list.length > 0), gloss: ids(gloss) }))
      .filter(({ lemmas, gloss }) => lemmas.length > 0 && gloss.length > 1),
  ),
);
write('inputs.json', JSON.stringify(inputs, null, 2));
process.stdout.write(
  `${vocabulary.length} words (${covered} with a GloVe vector), ${tools.size} tools, ${requests.length} requests, ${pairs.length} pairs, ${glosses.length} glosses\n`,
);
