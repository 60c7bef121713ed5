#!/usr/bin/env node
/**
 * Makes the phrase book that ships from the requests written for widely used servers.
 *
 *   node training/phrases.mjs --corpus DIR [--requests FILE] [--out FILE]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { phraseKey } from '../dist/search/phrase-book.js';
import { stem } from '../dist/search/stemmer.js';
import { tokenize } from '../dist/search/tokenizer.js';

const { values: args } = parseArgs({
  options: {
    corpus: { type: 'string' },
    requests: { type: 'string', default: join(import.meta.dirname, 'requests.jsonl') },
    out: { type: 'string', default: join(import.meta.dirname, '../models/phrases.json') },
  },
});
if (args.corpus === undefined) throw new Error('--corpus DIR is needed.');
const lines = (text) =>
  text
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const written = new Map(
  lines(readFileSync(args.requests)).map((entry) => [`${entry.server}\n${entry.tool}`, entry.requests]),
);

/**
 * Requests hold details that say nothing about the tool ("a pizza place in Oslo"). A word stays if it is more than one
 * writer's detail: requests for several tools use it, or tools themselves do.
 */
const FEWEST_TOOLS = 4;
const uses = new Map();
const count = (texts) => {
  for (const term of new Set(texts.flatMap((text) => termsOf(text)))) uses.set(term, (uses.get(term) ?? 0) + 1);
};
const termsOf = (text) => tokenize(text).flatMap(({ text: word, kind }) => (kind === 'compound' ? [] : [stem(word)]));
for (const requests of written.values()) count(requests);
const corpus = lines(gunzipSync(readFileSync(join(args.corpus, 'mcp-real.tools.jsonl.gz'))));
for (const { name, description } of corpus) count([`${name} ${description ?? ''}`]);

const isDetail = (word, place) =>
  /^[\d#!@<]/.test(word) ||
  (place > 0 && /^\p{Lu}\p{Ll}/u.test(word) && (uses.get(stem(word.toLowerCase())) ?? 0) < 40) ||
  termsOf(word).every((term) => (uses.get(term) ?? 0) < FEWEST_TOOLS);
const withoutDetails = (request) =>
  request
    .split(/\s+/)
    .filter((word, place) => !isDetail(word, place))
    .join(' ');

const tools = {};
for (const { server, tools: list } of lines(gunzipSync(readFileSync(join(args.corpus, 'servers.jsonl.gz'))))) {
  for (const tool of list) {
    const requests = written.get(`${server}\n${tool.name}`);
    if (requests !== undefined) tools[phraseKey(tool)] = requests.map(withoutDetails).filter((phrase) => phrase !== '');
  }
}
const sorted = Object.fromEntries(Object.entries(tools).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(args.out, `${JSON.stringify({ version: 1, tools: sorted }, null, 1)}\n`);
process.stdout.write(`${args.out}: phrases for ${Object.keys(sorted).length} tools\n`);
