#!/usr/bin/env node
/**
 * Adds the answered sheets to `training/requests.jsonl`: one line a tool, `{server, tool, popular, requests}`.
 *
 *   node training/collect.mjs --sheets DIR --written DIR [--out FILE]
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    sheets: { type: 'string' },
    written: { type: 'string' },
    out: { type: 'string', default: join(import.meta.dirname, 'requests.jsonl') },
  },
});
if (values.sheets === undefined || values.written === undefined)
  throw new Error('Both --sheets DIR and --written DIR are needed.');

const lines = (file) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const keyOf = ({ server, tool }) => `${server}\n${tool}`;
const known = new Map(lines(values.out).map((entry) => [keyOf(entry), entry]));
const tools = new Map(
  lines(join(values.sheets, 'index.jsonl')).map(({ number, ...entry }) => {
    const tool = known.get(keyOf(entry)) ?? { ...entry, requests: [] };
    known.set(keyOf(tool), tool);
    return [number, tool];
  }),
);
const strange = [];
for (const file of readdirSync(values.written)
  .filter((name) => name.endsWith('.tsv'))
  .sort()) {
  for (const line of readFileSync(join(values.written, file), 'utf8').split('\n')) {
    if (line.trim() === '') continue;
    const [, number, text] = /^(\d+)\t(.+)$/.exec(line) ?? [];
    const tool = tools.get(Number(number));
    if (tool === undefined) {
      strange.push(`${file}: ${line.slice(0, 80)}`);
      continue;
    }
    for (const request of text.split('|').map((part) => part.trim())) {
      if (request !== '' && !tool.requests.includes(request)) tool.requests.push(request);
    }
  }
}
const answered = [...known.values()].filter(({ requests }) => requests.length > 0);
writeFileSync(values.out, answered.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
const count = answered.reduce((sum, { requests }) => sum + requests.length, 0);
process.stdout.write(
  `${count} requests for ${answered.length} of ${known.size} tools; ${strange.length} lines not understood\n`,
);
for (const line of strange.slice(0, 20)) process.stdout.write(`  ${line}\n`);
