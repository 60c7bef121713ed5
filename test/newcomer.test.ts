/** Runs the commands of a new user again: the pages show what they print today. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

/** Lines without what differs from run to run and machine to machine: numbers, units of time and size, bars, columns. */
const shapeOf = (text: string): string[] =>
  (text.startsWith('{') ? JSON.stringify(JSON.parse(text)) : text)
    .trim()
    .split('\n')
    .map((line) =>
      line
        .replace(/[█▏▎▍▌▋▊▉]+/g, '▌')
        .replace(/\d[\d,.]*(?: (?:ms|s|B|kB|MB)\b)?/g, '0')
        .replace(/ {2,}(?=\S)/g, (gap, at) => (at === 0 ? gap : ' ')),
    );

interface Part {
  readonly page: string;
  readonly name: string;
  readonly text: string;
}

const shownIn = ({ page, name }: Part): string => {
  const text = readFileSync(join(root, page), 'utf8');
  const part = new RegExp(`<!-- scripts/newcomer\\.mjs: ${name} -->\\n\\n\`\`\`\\w+\\n([^]*?)\`\`\`\\n`).exec(text);
  return part?.[1] ?? '';
};

// The pages show the paths of Linux.
describe.runIf(process.platform === 'linux')('README and the recipes', () => {
  it('show what the commands of a new user print', async () => {
    const script = [join(root, 'scripts/newcomer.mjs'), '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, script);
    const parts: Part[] = JSON.parse(stdout);
    expect(parts.length).toBeGreaterThan(5);
    for (const part of parts)
      expect(shapeOf(shownIn(part)), `${part.page}: node scripts/newcomer.mjs --write`).toEqual(shapeOf(part.text));
  }, 120_000);
});
