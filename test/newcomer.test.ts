/** The first minutes of a newcomer, run again: README shows what the commands print today. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

/** Lines without what differs from run to run and machine to machine: numbers, units of time and size, bars, columns. */
const shapeOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) =>
      line
        .replace(/[█▏▎▍▌▋▊▉]+/g, '▌')
        .replace(/\d[\d,.]*(?: (?:ms|s|B|kB|MB)\b)?/g, '0')
        .replace(/ {2,}(?=\S)/g, (gap, at) => (at === 0 ? gap : ' ')),
    );

const inReadme = (name: string): string => {
  const page = readFileSync(join(root, 'README.md'), 'utf8');
  const part = new RegExp(`<!-- scripts/newcomer\\.mjs: ${name} -->\\n\\n\`\`\`console\\n([^]*?)\`\`\`\\n`).exec(page);
  return part?.[1] ?? '';
};

// README shows the paths of Linux.
describe.runIf(process.platform === 'linux')('README', () => {
  it('shows what init, list, search, execute, install and the commands after them print', async () => {
    const script = [join(root, 'scripts/newcomer.mjs'), '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, script);
    const parts: Record<string, string> = JSON.parse(stdout);
    expect(Object.keys(parts)).toEqual(['first', 'later']);
    for (const [name, output] of Object.entries(parts))
      expect(shapeOf(inReadme(name)), 'out of date: node scripts/newcomer.mjs --write').toEqual(shapeOf(output));
  }, 120_000);
});
