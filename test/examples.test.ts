/** The examples run, and docs/library.md and docs/service.md show nothing but code that is run. Uses the build. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const examples = readdirSync(join(root, 'examples')).filter((name) => /^\d+-.*\.mjs$/.test(name));

describe('every example', () => {
  // The tour is long and the gateway's; `npm run check` runs it.
  it.each(examples.filter((name) => !name.startsWith('01-')))(
    '%s runs and finds everything as it should be',
    async (name) => {
      const env = { ...process.env, DATABASE_URL: '', PORT: '0' };
      const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'examples', name)], { env });
      expect(stdout).not.toBe('');
    },
    60_000,
  );

  it('ends well when nobody reads the tour to its end', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'examples-'));
    const env = { ...process.env, TMPDIR: temporary };
    const tour = spawn(process.execPath, [join(root, 'examples', '01-tour.mjs')], { env });
    tour.stdout.once('data', () => tour.stdout.destroy());
    const [code, problems] = await Promise.all([once(tour, 'close').then(([first]) => first), text(tour.stderr)]);
    expect([code, problems, readdirSync(temporary)]).toEqual([0, '', []]);
    rmSync(temporary, { recursive: true });
  }, 60_000);

  it('is named in examples/README.md', () => {
    expect(examples.filter((name) => !read('examples/README.md').includes(`\`${name}\``))).toEqual([]);
  });
});

/** Lines without their indentation, because a page shows what is inside a function without it; the package by its name. */
const linesOf = (text: string): string[] =>
  text
    .replaceAll(/'(?:\.\.\/)+src\/registry\.ts'/g, `'@anygpt/discovery/registry'`)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const isPartOf = (part: readonly string[], whole: readonly string[]): boolean =>
  whole.some((_, at) => part.every((line, n) => whole[at + n] === line));

describe.each([
  ['docs/library.md', 11],
  ['docs/service.md', 1],
])('%s', (file, least) => {
  const page = read(file);
  const blocks = [...page.matchAll(/^(?:<!-- (\S+) -->\n\n)?```ts\n(.*?)^```$/gms)];

  it.each(blocks.map(([, file, code]) => ({ file, code: code ?? '', first: code?.split('\n')[0] })))(
    'shows code of $file: $first',
    ({ file, code }) => {
      expect(file, 'a comment above the code says which file it is from').toBeDefined();
      const source = linesOf(read(String(file)));
      // What is imported is compiled by test/library-docs.test.ts.
      const parts = code
        .split(/\n\n/)
        .map(linesOf)
        .map((lines) => lines.filter((line) => !line.startsWith('import ')));
      expect(parts.filter((part) => !isPartOf(part, source)).map((part) => part.join('\n'))).toEqual([]);
    },
  );

  it('has code', () => {
    expect(blocks.length).toBeGreaterThanOrEqual(least);
  });
});
