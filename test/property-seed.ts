/**
 * Pins the seed of all property tests, so that a run can be repeated; `PROPERTY_SEED` sets another. CI runs them once with
 * the pinned seed and once with a fresh one, which it prints (`npm run test:fresh`).
 * @module
 */
import fc from 'fast-check';

const PINNED = 1;

fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? PINNED) });
