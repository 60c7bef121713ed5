// Measures and prints sections one after the other, and sets the exit code.
import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { toDocument, toTable, verdictOf } from './report.mjs';

const fail = (message) => {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(1);
};

/** Ends with an explanation if there is no build to measure. */
export const requireBuild = () => {
  if (!existsSync(new URL('../../dist/.built', import.meta.url)))
    fail('there is no build to measure; run "npm run build" first');
};

/**
 * Runs sections one after the other. `load(name)` imports one: { title, measure(input) → lines or {lines, tables, data} }.
 * Those in `apart` run only when `only` names them. With `strict` a missed budget makes the exit code 1.
 */
export const runSections = async ({ names, apart = [], only, json, strict, load, input }) => {
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) fail(`--only takes one of ${names.join(', ')}, not ${unknown}`);
  // Other work on the machine slows everything here, and processes with helper threads more than `node -e 0`.
  const loadNow = () => Number(loadavg()[0].toFixed(1));
  const loadBefore = loadNow();
  const sections = [];
  for (const name of only ?? names.filter((one) => !apart.includes(one))) {
    // Loaded one by one: each imports only the parts of the build it needs.
    const { title, measure } = await load(name);
    const measured = await measure(input);
    const section = { name, title, ...(Array.isArray(measured) ? { lines: measured } : measured) };
    sections.push(section);
    if (!json) process.stdout.write(`${toTable(section)}\n`);
  }
  const machine = { cores: availableParallelism(), loadBefore, loadAfter: loadNow() };
  const misses = sections.flatMap(({ lines }) => lines).filter((line) => verdictOf(line) === 'MISS');
  process.stdout.write(
    json
      ? `${JSON.stringify(toDocument(sections, machine), null, 2)}\n`
      : `Missed budgets: ${misses.length}. Load ${loadBefore} before, ${machine.loadAfter} after, on ${machine.cores} cores.\n`,
  );
  process.exitCode = strict && misses.length > 0 ? 1 : 0;
};
