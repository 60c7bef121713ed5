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

const tools = {};
for (const { server, tools: list } of lines(gunzipSync(readFileSync(join(args.corpus, 'servers.jsonl.gz'))))) {
  for (const tool of list) {
    const requests = written.get(`${server}\n${tool.name}`);
    if (requests !== undefined) tools[phraseKey(tool)] = requests;
  }
}
const sorted = Object.fromEntries(Object.entries(tools).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(args.out, `${JSON.stringify({ version: 1, tools: sorted }, null, 1)}\n`);
process.stdout.write(`${args.out}: phrases for ${Object.keys(sorted).length} tools\n`);
