#!/usr/bin/env node
/**
 * Reads what the model of asking learns from and writes it as numbers for `train-asking.py`.
 *
 *   node training/prepare-asking.mjs --corpus DIR --out DIR
 *
 * Texts are read, and tools get their vectors, with the package's own code (`npm run build` first).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { piecesOf } from '../dist/search/asking-model.js';
import { MEANING_PARTS, toolWords } from '../dist/search/meaning-text.js';
import { shippedModel } from '../dist/search/shipped.js';

const { values: args } = parseArgs({
  options: {
    corpus: { type: 'string' },
    stories: { type: 'string', default: join(import.meta.dirname, 'stories.jsonl') },
    requests: { type: 'string', default: join(import.meta.dirname, 'requests.jsonl') },
    out: { type: 'string' },
  },
});
for (const name of ['corpus', 'out']) if (args[name] === undefined) throw new Error(`--${name} is needed.`);

/** Shorter requests are never weighed. */
const FEWEST_PIECES = 10;

const lines = (file) => {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
};

const model = shippedModel();
const tools = new Map();
const vectors = [];
const addTool = (server, tool) => {
  const key = `${server}\n${tool.name}`;
  if (tools.has(key)) return;
  const parts = toolWords({ ...tool, server, summary: '', inputSchema: tool.inputSchema ?? undefined });
  const ordinals = Object.fromEntries(MEANING_PARTS.map((part) => [part, parts[part].map((w) => model.ordinalOf(w))]));
  const meaning = model.ofTool(ordinals);
  if (meaning === undefined) return;
  tools.set(key, tools.size);
  vectors.push(Float32Array.from(meaning.values, (value) => value * meaning.scale));
};
for (const list of lines(join(args.corpus, 'servers.jsonl.gz')))
  for (const tool of list.tools) addTool(list.server, tool);
for (const tool of lines(join(args.corpus, 'mcp-real.tools.jsonl.gz'))) addTool(tool.server, tool);

const toExample = ({ server, tool, heldOut = false }, text, isStory) => {
  const place = tools.get(`${server}\n${tool}`);
  const pieces = piecesOf(text, model).map(({ ordinal, sign }) => ordinal ?? -1 - sign);
  return place === undefined || pieces.length < FEWEST_PIECES ? [] : [{ place, server, pieces, isStory, heldOut }];
};
const examples = [
  ...lines(args.stories).flatMap((entry) => toExample(entry, entry.story, true)),
  ...lines(args.requests).flatMap((entry) => entry.requests.flatMap((text) => toExample(entry, text, false))),
];

// Only the words that occur have a vector.
const used = [...new Set(examples.flatMap(({ pieces }) => pieces.filter((piece) => piece >= 0)))];
const rows = new Map(used.map((ordinal, row) => [ordinal, row]));
const words = new Float32Array(used.length * model.dimensions);
const vector = new Float64Array(model.dimensions);
for (const [row, ordinal] of used.entries()) {
  model.readVector(ordinal, vector);
  words.set(vector, row * model.dimensions);
}

mkdirSync(args.out, { recursive: true });
const write = (name, value) => writeFileSync(join(args.out, name), value);
write('words.f32', words);
write('tools.f32', Buffer.concat(vectors.map(({ buffer }) => Buffer.from(buffer))));
write(
  'examples.jsonl',
  examples
    .map((one) => `${JSON.stringify({ ...one, pieces: one.pieces.map((piece) => rows.get(piece) ?? piece) })}\n`)
    .join(''),
);
write('about.json', JSON.stringify({ vectors: model.id, dimensions: model.dimensions }));
process.stdout.write(
  `${tools.size} tools, ${examples.filter(({ isStory }) => isStory).length} stories, ${examples.filter(({ isStory }) => !isStory).length} requests, ${used.length} words\n`,
);
