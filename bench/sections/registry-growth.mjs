// Measures how the time to add many sources of tools grows: three times as many should take about three times as long.
import { growthCases } from '../parts/growth-cases.mjs';
import { timed } from '../parts/statistics.mjs';

export const title = 'Taking in many sources of 10 tools each';

const FEW = 320;
const MANY = 1_000;
const ROUNDS = 3;
const BUDGETED = 'registerMcpTools, then all definitions';

/** The best of several rounds, which excludes other work on the machine. */
const best = async (act) => {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await timed(act));
  return Math.min(...times);
};

export const measure = async () => {
  const lines = [];
  for (const [what, take] of Object.entries(growthCases)) {
    // A first run, so that the code is compiled before it is timed.
    await take(FEW);
    const few = await best(() => take(FEW));
    const many = await best(() => take(MANY));
    lines.push(
      { what: `${MANY} sources: ${what}`, value: many, unit: 'ms', ...(what === BUDGETED && { budget: 1_000 }) },
      { what: `${MANY} against ${FEW} of them`, value: many / few, unit: '×', budget: 6, note: 'linear is 3.1' },
    );
  }
  return lines;
};
