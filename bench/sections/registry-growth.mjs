// How the time to take in many sources of tools grows: three times as many should take about three times as long.
import { growthCases } from '../parts/growth-cases.mjs';
import { timed } from '../parts/statistics.mjs';

export const title = 'Taking in many sources of 10 tools each';

const FEW = 320;
const MANY = 1_000;
const ROUNDS = 3;
const BUDGETED = 'registerMcpTools, then all definitions';

/** The best of some rounds, which leaves out what other work on the machine took. */
const best = async (act) => {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await timed(act));
  return Math.min(...times);
};

export const measure = async () => {
  const lines = [];
  for (const [what, take] of Object.entries(growthCases)) {
    // Compiled by then, so that the first does not pay for all.
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
