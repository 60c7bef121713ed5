// Writes docs/command-line.md from the usage texts of the built commands. With --check, compares instead.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { COMMANDS } from '../dist/cli/main.js';

const page = new URL('../docs/command-line.md', import.meta.url);
const schema = (name) => `schemas/${name}.schema.json`;

/** The published shapes of a command's `--json`: of itself, or of each of its subcommands. */
const schemasOf = (name, { usage }) => {
  const subcommands = /^Subcommands:\n((?: {2}.+\n)+)/m.exec(usage)?.[1].matchAll(/^ {2}(\S+)/gm) ?? [];
  const names = [name, `${name}-clear`, ...[...subcommands].map(([, word]) => `${name}-${word}`)];
  return names.map(schema).filter((path) => existsSync(new URL(`../${path}`, import.meta.url)));
};

const sectionOf = (name, summary, command) => {
  const links = schemasOf(name, command).map((path) => `[${path.split('/')[1]}](../${path})`);
  return [
    `## ${name}`,
    `${summary}.`,
    `\`\`\`\n${command.usage}\n\`\`\``,
    ...(links.length > 0 ? [`\`--json\`: ${links.join(', ')}`] : []),
  ].join('\n\n');
};

const entries = Object.entries(COMMANDS);
const sections = await Promise.all(
  entries.map(async ([name, { summary, load }]) => sectionOf(name, summary, await load())),
);
const text = `# Command line

Written from the commands by \`npm run docs:cli\`; each prints its part with \`--help\`. Without installing,
\`npx -y @anygpt/discovery mcp list\` does what \`anygpt mcp list\` does. The word \`mcp\` may be left out.

${entries.map(([name, { summary }]) => `- [\`${name}\`](#${name}): ${summary}`).join('\n')}

Results go to stdout, everything else to stderr. With \`--json\` a result is one document in the shape that is linked
below; a failure has the shape of [failure.schema.json](../${schema('failure')}). Exit codes, unless a command says
more: 0 fine (warnings included), 1 bad arguments, 2 not found or configuration, 3 failed, 4 disabled or refused. Colour
is used on a terminal only, and never with \`NO_COLOR\`.

${sections.join('\n\n')}
`;

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
  console.error('docs/command-line.md is out of date: npm run docs:cli');
  process.exitCode = 1;
}
