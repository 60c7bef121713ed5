// Writes docs/api.md from the TSDoc of everything that the built package exports. With --check, compares instead.
// Either way an export without TSDoc is an error.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entryPoints, exportsOf, mentionsOf, moduleDoc, readDoc } from './declarations.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = `${root}docs/api.md`;
const GROUPS = {
  Classes: ['class'],
  Functions: ['function'],
  Constants: ['const', 'let'],
  Types: ['interface', 'type'],
};

const inGroups = (found) => {
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.entries(GROUPS)
    .map(([title, kinds]) => [title, sorted.filter(([, { kind }]) => kinds.includes(kind))])
    .filter(([, members]) => members.length > 0);
};

/** Identifies an export, whichever entry point it comes through. */
const keyOf = (name, { file }) => `${name} ${file}`;

/** Each export once, under the first entry point that has it, with the anchor that GitHub gives its heading. */
const describeAll = (entries) => {
  const described = new Map();
  const slugs = new Map();
  for (const entry of entries)
    for (const [name, one] of inGroups(entry.found).flatMap(([, members]) => members)) {
      if (described.has(keyOf(name, one))) continue;
      const slug = name.toLowerCase();
      const count = slugs.get(slug) ?? 0;
      slugs.set(slug, count + 1);
      const anchor = count === 0 ? slug : `${slug}-${count}`;
      described.set(keyOf(name, one), { ...one, ...readDoc(one.doc), entry, name, anchor });
    }
  return described;
};

/** Members that cannot be named from outside: `#private` ones, and those under our own symbols. */
const PRIVATE = /^ *#private;\n|^(?: *\/\*\*[^\n]*\*\/\n)? *(?:get )?\[[A-Z_]+\][^\n]*\n/gm;

const code = (text) => `\`\`\`ts\n${text}\n\`\`\``;

const declarationOf = (text) => text.replace(PRIVATE, '').replace(/^export /gm, '');

const sectionOf = ({ name, kind, text, description, examples }) => {
  const declaration = declarationOf(text);
  const title = kind === 'const' ? 'constant' : kind;
  return [`### ${name}`, `_${title}_ · ${description}`, code(declaration), ...examples.map(code)];
};

/** Types that these declarations mention but no entry point exports. The members of such a class are left out. */
const mentionedBy = (members, described, shown) => {
  const found = new Map();
  const look = (one) => {
    for (const other of mentionsOf({ ...one, text: one.text.replace(PRIVATE, '') })) {
      const key = keyOf(other.name, other);
      if (described.has(key) || found.has(key) || shown.has(key)) continue;
      found.set(key, other);
      shown.add(key);
      if (other.kind !== 'class') look(other);
    }
  };
  members.forEach(look);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
};

const mentionOf = ({ name, kind, text, doc }) => {
  const { description } = readDoc(doc);
  const head = `**${name}** · _${kind}_${description === '' ? '' : ` · ${description}`}`;
  return kind === 'class' ? [head] : [head, code(declarationOf(text))];
};

const chapterOf = (entry, described, shown) => {
  const groups = inGroups(entry.found).map(([title, members]) => [
    title,
    members.map(([name, one]) => described.get(keyOf(name, one))),
  ]);
  const links = groups.map(
    ([title, members]) => `- ${title}: ${members.map(({ name, anchor }) => `[${name}](#${anchor})`).join(', ')}`,
  );
  const own = groups.flatMap(([, members]) => members).filter((one) => one.entry === entry);
  const mentioned = mentionedBy(own, described, shown);
  const also = ['### Also mentioned', 'Types that the declarations above mention and that are not exported by name.'];
  return [
    `## ${entry.name}`,
    entry.about,
    links.join('\n'),
    ...own.flatMap(sectionOf),
    ...(mentioned.length > 0 ? [...also, ...mentioned.flatMap(mentionOf)] : []),
  ];
};

/** Formats the page as the project's own files, declarations included. */
const format = (text) => {
  const biome = [`${root}node_modules/@biomejs/biome/bin/biome`, 'format', `--stdin-file-path=${page}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, biome, { cwd: root, input: text, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

const entries = entryPoints(root).map(({ name, types }) => ({
  name,
  about: moduleDoc(types),
  found: exportsOf(types),
}));
const described = describeAll(entries);
const shown = new Set();
const text = format(
  `${[
    '# API',
    `Written from the sources by \`npm run docs:api\`: everything the package exports. What two entry points have in common is
described under the first. [library.md](library.md) shows how it is used, [configuration.md](configuration.md) what a
configuration can say.`,
    ...entries.flatMap((entry) => chapterOf(entry, described, shown)),
  ].join('\n\n')}\n`,
);

const bare = [...described.values()].filter(({ description }) => description === '');
if (bare.length > 0) {
  const names = bare.map(({ name, file }) => `  ${name} (${relative(root, file)})`);
  console.error(`exports without TSDoc:\n${names.join('\n')}`);
  process.exitCode = 1;
}
if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
  console.error('docs/api.md is out of date: npm run docs:api');
  process.exitCode = 1;
}
