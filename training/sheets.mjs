#!/usr/bin/env node
/**
 * Writes the sheets that authors of search requests work from: numbered tools with what a person would see of them, and
 * the requests that were written for them before.
 *
 *   node training/sheets.mjs --corpus DIR --out DIR [--each 3]
 *
 * In: `servers.jsonl.gz` (what real servers answered), `mcp-real.tools.jsonl.gz` and `requests.jsonl`. Out:
 * `sheet-NNN.txt`, to be answered with lines `NUMBER<TAB>request | request | …`, and `index.jsonl`, which says which tool
 * a number is. Every tool is there once; the same tool of two servers is asked for once.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';

const TOOLS_PER_SHEET = 50;

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    requests: { type: 'string', default: join(import.meta.dirname, 'requests.jsonl') },
    out: { type: 'string' },
    each: { type: 'string', default: '3' },
  },
});
if (values.corpus === undefined || values.out === undefined)
  throw new Error('Both --corpus DIR and --out DIR are needed.');

const lines = (text) =>
  text
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const packed = (file) => lines(gunzipSync(readFileSync(join(values.corpus, file))));
const keyOf = ({ server, name }) => `${server}\n${name}`;
const written = new Map(
  lines(readFileSync(values.requests)).map(({ server, tool, requests }) => [keyOf({ server, name: tool }), requests]),
);

const seen = new Set();
const isNew = ({ name, description = '' }) => {
  const key = `${name}\n${description?.slice(0, 80)}`;
  const isFirst = !seen.has(key);
  seen.add(key);
  return isFirst;
};
const popular = packed('servers.jsonl.gz').flatMap(({ server, package: about, tools }) =>
  tools.map((tool) => ({ ...tool, server, about, popular: true })),
);
const others = packed('mcp-real.tools.jsonl.gz').map((tool) => ({ ...tool, about: tool.serverDescription }));
const byServer = new Map();
for (const tool of [...popular, ...others].filter(isNew))
  byServer.set(tool.server, [...(byServer.get(tool.server) ?? []), tool]);

const short = (text, length) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, length);
const index = [];
const sheets = [];
for (const [server, tools] of byServer) {
  for (const [position, tool] of tools.entries()) {
    const number = index.length + 1;
    if (index.length % TOOLS_PER_SHEET === 0) sheets.push([]);
    const sheet = sheets.at(-1);
    index.push({ number, server, tool: tool.name, popular: tool.popular === true });
    if (position === 0 || sheet.length === 0) sheet.push(`## ${server} — ${short(tool.about, 140)}`);
    const parameters = short(
      Object.keys(tool.inputSchema?.properties ?? {})
        .slice(0, 8)
        .join(', '),
      120,
    );
    const known = (written.get(keyOf(tool)) ?? []).map((request) => short(request, 70)).join(' | ');
    sheet.push(
      `${number} x${values.each} ${tool.name}(${parameters}): ${short(tool.description, 220)}${known && `  [written: ${known}]`}`,
    );
  }
}
mkdirSync(values.out, { recursive: true });
for (const [position, sheet] of sheets.entries()) {
  writeFileSync(join(values.out, `sheet-${String(position + 1).padStart(3, '0')}.txt`), `${sheet.join('\n')}\n`);
}
writeFileSync(join(values.out, 'index.jsonl'), `${index.map((entry) => JSON.stringify(entry)).join('\n')}\n`);
process.stdout.write(`${index.length} tools on ${sheets.length} sheets\n`);
