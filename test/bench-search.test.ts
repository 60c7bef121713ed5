/** `npm run bench:search` on a small set of its own, as a person would start it. Measures the built package. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';
import { tempFolder } from './fixtures/gateway/kit.ts';

let folder: ReturnType<typeof tempFolder>;
let files: string[];
const lines = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

beforeAll(() => {
  folder = tempFolder();
  const tool = (server: string, name: string, description: string) => ({
    server,
    name,
    description,
    inputSchema: null,
  });
  const tools = [
    tool('github', 'create_issue', 'Create an issue in a repository'),
    tool('github', 'list_forks', 'List the forks of a repository'),
    tool('files', 'read_file', 'Read a file from disk'),
  ];
  const needs = (query: string, server: string, name: string, source: string) => ({
    query,
    relevant: [{ server, name }],
    source,
  });
  const queries = [
    needs('create an issue', 'github', 'create_issue', 'one'),
    needs('read the file', 'files', 'read_file', 'one'),
    needs('which forks are there', 'github', 'list_forks', 'two'),
    needs('repository', 'files', 'no_such_tool', 'two'),
  ];
  files = ['--tools', join(folder.path, 'own.tools.jsonl'), '--queries', join(folder.path, 'own.queries.jsonl.gz')];
  writeFileSync(join(folder.path, 'own.tools.jsonl'), lines(tools));
  writeFileSync(join(folder.path, 'own.queries.jsonl.gz'), gzipSync(lines(queries)));
});
afterAll(() => folder[Symbol.dispose]());

const run = promisify(execFile);
const bench = async (...argv: string[]): Promise<string> =>
  (await run(process.execPath, ['bench/search.mjs', ...argv], { cwd: root, maxBuffer: 2 ** 26 })).stdout;

describe('bench:search', () => {
  it('sets every ranker side by side on the files it is given', async () => {
    const document = JSON.parse(await bench(...files, '--only', 'quality', '--only', 'misses', '--json'));
    const [quality, missed] = document.sections;
    expect(quality.rankers.map(({ ranker }: { ranker: string }) => ranker)).toEqual([
      'ours',
      'minisearch',
      'bm25',
      'words',
      'meaning',
    ]);
    for (const { macro, sets } of quality.rankers) {
      expect(macro).toMatchObject({ queries: 4, figures: { hit1: { value: 0.75 } } });
      expect(sets).toMatchObject([
        {
          set: 'own',
          sources: [
            { source: 'one', figures: { hit1: { value: 1 } } },
            { source: 'two', figures: { hit1: { value: 0.5 } } },
          ],
        },
      ]);
    }
    expect(quality.rankers[0].macro.tokens.median).toBeGreaterThan(0);
    expect(missed.misses[0].misses).toMatchObject([{ reason: 'not-in-catalogue', query: { query: 'repository' } }]);
  });

  it('says what each part is worth on the queries and on those that ask for it', async () => {
    const document = JSON.parse(await bench(...files, '--only', 'ablation', '--json'));
    const [{ parts }] = document.sections;
    const typos = parts.find(({ part }: { part: string }) => part === 'typos');
    expect(typos.worth).toMatchObject([
      { set: 'macro', queries: 4, value: 0 },
      { set: 'own', queries: 4, value: 0 },
    ]);
    expect(typos.asked).toMatchObject([{ asks: 'one word misspelt', worth: [{ set: 'macro' }, { set: 'own' }] }]);
    expect(typos.asked[0].worth[0]).toMatchObject({ low: expect.any(Number), high: expect.any(Number) });
  });

  it('prints tables, reads a folder of sets, and says what is wrong with a path', async () => {
    const table = /own: calibration error [\d.]+ points/;
    expect(await bench('--data', folder.path, '--only', 'reliability')).toMatch(table);
    expect(await bench(...files, '--only', 'reliability')).toMatch(table);
    await expect(bench('--data', '/nowhere')).rejects.toMatchObject({ stderr: expect.stringContaining('ENOENT') });
    await expect(bench('--tools', 'x')).rejects.toMatchObject({
      stderr: expect.stringContaining('needs its --queries'),
    });
  });
});

describe('the reliability of relevance', async () => {
  type Outcome = { readonly ranking: readonly { readonly relevance: number }[]; readonly figures: { hit1: number } };
  const { reliabilityOf } = (await import(new URL('../bench/search/reliability.mjs', import.meta.url).href)) as {
    reliabilityOf(outcomes: readonly Outcome[]): { bins: object[]; error: number; without: number };
  };
  const first = (relevance: number, hit1: 0 | 1): Outcome => ({ ranking: [{ relevance }], figures: { hit1 } });

  it('is how often the first hit is right, held against its relevance', () => {
    const { bins, error, without } = reliabilityOf([first(0.9, 1), first(1, 1), first(0.95, 0), first(0.15, 0)]);
    expect(bins).toMatchObject([
      { from: 0.1, to: 0.2, queries: 1, right: 0 },
      { from: 0.9, to: 1, queries: 3, right: 2 / 3 },
    ]);
    expect(error).toBeCloseTo((0.15 + 3 * (0.95 - 2 / 3)) / 4, 12);
    expect(without).toBe(0);
  });

  it('counts queries without a hit apart', () => {
    expect(reliabilityOf([{ ranking: [], figures: { hit1: 0 } }])).toEqual({ bins: [], error: 0, without: 1 });
  });
});
