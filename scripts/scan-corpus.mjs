/**
 * Measures how often the scanner reports innocent tools: `node scripts/scan-corpus.mjs file.jsonl[.gz]…`. Reads lines of
 * `{server, name, …}` or `{server, tools: […]}` and prints each finding, then the rates. Needs a build.
 * @module
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { KnownNames } from '../dist/approvals/scan/known-names.js';
import { scanDefinition } from '../dist/approvals/scan/scan-definition.js';

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('Name one or more files of tools, .jsonl or .jsonl.gz.');
const rows = files.flatMap((file) => {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
});
const tools = rows.flatMap(({ server, tools, serverDescription: _about, origin: _origin, ...tool }) =>
  (tools ?? [tool]).map((definition) => ({ server, definition })),
);
const names = new KnownNames(tools.map(({ server, definition }) => ({ server, tool: definition.name })));
const count = new Map();
let flagged = 0;
let slowest = 0;
const started = performance.now();
for (const { server, definition } of tools) {
  const from = performance.now();
  const findings = scanDefinition(server, definition, process.env.NAMES === '1' ? names : undefined);
  slowest = Math.max(slowest, performance.now() - from);
  if (findings.length > 0) flagged += 1;
  for (const rule of new Set(findings.map(({ rule }) => rule))) count.set(rule, (count.get(rule) ?? 0) + 1);
  for (const { rule, place, excerpt } of findings)
    process.stdout.write(`${rule}\t${server}:${definition.name}${place}\t${excerpt}\n`);
}
const share = (part) => `${part} of ${tools.length} tools (${((100 * part) / tools.length).toFixed(2)} %)`;
for (const [rule, part] of count) process.stdout.write(`# ${rule}: ${share(part)}\n`);
process.stdout.write(
  `# any rule: ${share(flagged)}; ${((performance.now() - started) / tools.length).toFixed(3)} ms a tool, slowest ${slowest.toFixed(1)} ms\n`,
);
