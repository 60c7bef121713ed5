/** Taking in n sources of tools costs n times one, whatever way they come. Counts work, not time. Uses the build. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const FEW = 20;
const MANY = 160;
/** Linear is 8; sorting and merging add a little. Rebuilding everything for each source makes it 64. */
const MOST = 11;
const CHANGES = 'changes of one provider of an engine, each before a search';

it('eight times as many servers, providers, tools or changes are about eight times the work', async () => {
  const script = fileURLToPath(new URL('fixtures/count-work.mjs', import.meta.url));
  const { NODE_V8_COVERAGE: _, NODE_OPTIONS: __, ...env } = process.env;
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [script, String(FEW), String(MANY)], { env }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  const counted = JSON.parse(printed) as Record<string, { few: number; many: number }>;
  const work = Object.entries(counted);
  const growth = work.map(([what, { few, many }]) => ({ what, times: many / few }));
  expect(growth).toHaveLength(7);
  expect(growth.filter(({ times }) => times > MOST || times < 2)).toEqual([]);
  // What did not change is not indexed again: a change is far less work than the first list of 400 tools.
  const { few = 0, many = 0 } = counted[CHANGES] ?? {};
  const perChange = (many - few) / (MANY - FEW);
  expect((few - FEW * perChange) / perChange).toBeGreaterThan(4);
}, 60_000);
