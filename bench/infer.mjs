// Measures precision and recall of inferred domains and categories against judgements made by hand.
//
//   node bench/infer.mjs TOOLS [JUDGEMENTS] [--misses]
//
// TOOLS is a folder or file of JSON lines as bench/convert.mjs takes them. JUDGEMENTS is a file of JSON lines {id,
// primary: […], sub: […], categories: [[…], …]}; by default bench/judged-tools.jsonl, about 400 tools drawn at random. The
// id is a hash of server and tool, so that the file holds nothing of the tools. Any of the names in `primary` and `sub`
// is right, and any of the sets in `categories`; "-" in `sub` means that no sub-domain is right, too. Sub-domains are
// compared in the singular.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { requireBuild } from './parts/run-sections.mjs';
import { jsonLines } from './parts/tool-corpus.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { misses: { type: 'boolean', default: false } },
});
requireBuild();
const own = fileURLToPath(new URL('./judged-tools.jsonl', import.meta.url));
const [path, judgements = own] = positionals;
if (!path || !existsSync(path) || !existsSync(judgements)) {
  process.stderr.write('bench: give the path of the tools and the file of judgements\n');
  process.exit(1);
}
const { extractPrimaryDomain, extractSubDomain } = await import('../dist/service/infer/infer-domains.js');
const { inferCategories } = await import('../dist/service/infer/infer-categories.js');

const idOf = ({ server, name }) =>
  createHash('sha256')
    .update(JSON.stringify([server, name]))
    .digest('hex')
    .slice(0, 16);
const files = statSync(path).isDirectory()
  ? readdirSync(path)
      .filter((name) => /tools\.jsonl|servers\.jsonl/.test(name))
      .map((name) => join(path, name))
  : [path];
const tools = new Map(
  files
    .flatMap(jsonLines)
    .flatMap((line) => line.tools?.map((tool) => ({ ...tool, server: line.server })) ?? line)
    .map((tool) => [idOf(tool), tool]),
);
const singular = (name) =>
  name
    .split('_')
    .map((word) =>
      word
        .replace(/ies$/, 'y')
        .replace(/(ss|x|ch|sh)es$/, '$1')
        .replace(/(?<!s)s$/, ''),
    )
    .join('_');
const say = (text) => process.stdout.write(`${text}\n`);
const miss = (text) => options.misses && say(text);

class Score {
  right = 0;
  given = 0;
  wanted = 0;
  toString() {
    const part = (of) => (of === 0 ? '–' : `${((100 * this.right) / of).toFixed(1)} %`);
    return `precision ${part(this.given)} (${this.right}/${this.given}), recall ${part(this.wanted)} (${this.right}/${this.wanted})`;
  }
}

const halves = ['first half', 'second half', 'all'].map((name) => ({
  name,
  primary: new Score(),
  sub: new Score(),
  categories: new Score(),
  each: new Map(),
  exact: 0,
  count: 0,
}));
const judged = jsonLines(judgements);
for (const [at, { id, primary, sub, categories: sets }] of judged.entries()) {
  const tool = tools.get(id);
  if (!tool) {
    say(`not in the data: ${id}`);
    continue;
  }
  const { server, name } = tool;
  const domain = extractPrimaryDomain(server);
  const about = extractSubDomain(name, server);
  const found = inferCategories(name, { ...tool, server });
  const wrongIn = (set) => [...found, ...set].filter((one) => found.includes(one) !== set.includes(one)).length;
  const categories = sets.toSorted((a, b) => wrongIn(a) - wrongIn(b))[0];
  const isPrimary = primary.includes(domain);
  const isSub = about !== undefined && sub.map(singular).includes(singular(about));
  if (!isPrimary) miss(`${at} domain of ${server}: ${domain}, not ${primary}`);
  if (about === undefined ? !sub.includes('-') : !isSub)
    miss(`${at} sub-domain of ${server} ${name}: ${about}, not ${sub}`);
  if ([...found].sort().join() !== [...categories].sort().join())
    miss(`${at} categories of ${name}: ${found}, not ${categories}`);
  for (const half of [halves[at < judged.length / 2 ? 0 : 1], halves[2]]) {
    half.count++;
    half.primary.given++;
    half.primary.wanted++;
    if (isPrimary) half.primary.right++;
    if (about !== undefined) half.sub.given++;
    if (isSub || !sub.includes('-')) half.sub.wanted++;
    if (isSub) half.sub.right++;
    if (found.length === categories.length && found.every((one) => categories.includes(one))) half.exact++;
    for (const one of new Set([...found, ...categories])) {
      const score = half.each.get(one) ?? new Score();
      half.each.set(one, score);
      for (const counted of [score, half.categories]) {
        if (found.includes(one)) counted.given++;
        if (categories.includes(one)) counted.wanted++;
        if (found.includes(one) && categories.includes(one)) counted.right++;
      }
    }
  }
}
for (const { name, count, primary, sub, categories, exact, each } of halves) {
  say(`${name}: ${count} tools`);
  say(`  domain of the server: ${primary}`);
  say(`  sub-domain: ${sub}`);
  say(`  categories: ${categories}; all right for ${exact} tools`);
  if (name === 'all') for (const [category, score] of [...each].sort()) say(`    ${category}: ${score}`);
}
