#!/usr/bin/env node
/**
 * Writes the sheets that authors of search requests work from: numbered tools with what a person would see of them.
 *
 *   node training/sheets.mjs --corpus DIR --out DIR
 *
 * In: `servers.jsonl.gz` (what real servers answered) and `mcp-real.tools.jsonl.gz`. Out: `sheet-NNN.txt`, to be answered
 * with lines `NUMBER<TAB>request | request | …`, and `index.jsonl`, which says which tool a number is.
 * The choice is fixed: every tool of the first file once, and of each server of the second up to six, evenly spread.
 * A second round (their numbers go on) takes up to twelve more of each server of the second file, one request each.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';

const TOOLS_PER_SHEET = 90;
const PER_SERVER = 6;
const FURTHER_PER_SERVER = 12;

const { values } = parseArgs({ options: { corpus: { type: 'string' }, out: { type: 'string' } } });
if (values.corpus === undefined || values.out === undefined)
  throw new Error('Both --corpus DIR and --out DIR are needed.');

const lines = (file) =>
  gunzipSync(readFileSync(join(values.corpus, file)))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const seen = new Set();
const isNew = (tool) => {
  const key = `${tool.name}\n${(tool.description ?? '').slice(0, 80)}`;
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
};

const popular = lines('servers.jsonl.gz').map((list) => ({
  server: list.server,
  about: list.package,
  tools: list.tools.filter(isNew).map((tool) => ({ ...tool, phrases: 3 })),
}));

const others = new Map();
for (const tool of lines('mcp-real.tools.jsonl.gz').filter(isNew)) {
  const entry = others.get(tool.server) ?? { server: tool.server, about: tool.serverDescription ?? '', tools: [] };
  entry.tools.push({ ...tool, phrases: 2 });
  others.set(tool.server, entry);
}
const spread = (tools, most) =>
  tools.length <= most ? tools : Array.from({ length: most }, (_, i) => tools[Math.floor((i * tools.length) / most)]);
const first = [...others.values()].map((entry) => ({ ...entry, tools: spread(entry.tools, PER_SERVER) }));
const chosen = new Set(first.flatMap(({ tools }) => tools));
const second = [...others.values()].map((entry) => ({
  ...entry,
  tools: spread(
    entry.tools.filter((tool) => !chosen.has(tool)),
    FURTHER_PER_SERVER,
  ).map((tool) => ({ ...tool, phrases: 1 })),
}));

const short = (text, length) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, length);
const index = [];
const sheets = [];
for (const entry of [...popular, ...first, ...second]) {
  for (const [position, tool] of entry.tools.entries()) {
    const number = index.length + 1;
    const sheet = Math.floor(index.length / TOOLS_PER_SHEET);
    index.push({ number, server: entry.server, tool: tool.name, popular: tool.phrases === 3 });
    sheets[sheet] ??= [];
    if (position === 0 || (number - 1) % TOOLS_PER_SHEET === 0) {
      sheets[sheet].push(`## ${entry.server} — ${short(entry.about, 140)}`);
    }
    const parameters = Object.keys(tool.inputSchema?.properties ?? {})
      .slice(0, 8)
      .join(', ');
    sheets[sheet].push(
      `${number} x${tool.phrases} ${tool.name}(${short(parameters, 120)}): ${short(tool.description, 220)}`,
    );
  }
}
mkdirSync(values.out, { recursive: true });
for (const [position, sheet] of sheets.entries()) {
  writeFileSync(join(values.out, `sheet-${String(position + 1).padStart(3, '0')}.txt`), `${sheet.join('\n')}\n`);
}
writeFileSync(join(values.out, 'index.jsonl'), `${index.map((entry) => JSON.stringify(entry)).join('\n')}\n`);
process.stdout.write(`${index.length} tools on ${sheets.length} sheets\n`);
