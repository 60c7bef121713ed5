/** Taking in n sources of tools costs n times one, whatever way they come. Counts work, not time. Uses the build. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const FEW = 20;
const MANY = 160;
/** Linear is 8; sorting and merging add a little. Rebuilding everything for each source makes it 64. */
const MOST = 11;

it('eight times as many servers, providers or tools are about eight times the work', async () => {
  const script = fileURLToPath(new URL('fixtures/count-work.mjs', import.meta.url));
  const { NODE_V8_COVERAGE: _, NODE_OPTIONS: __, ...env } = process.env;
  const printed = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [script, String(FEW), String(MANY)], { env }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
  const work = Object.entries(JSON.parse(printed) as Record<string, { few: number; many: number }>);
  const growth = work.map(([what, { few, many }]) => ({ what, times: many / few }));
  expect(growth).toHaveLength(6);
  expect(growth.filter(({ times }) => times > MOST || times < 2)).toEqual([]);
}, 60_000);
