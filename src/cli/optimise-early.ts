/**
 * Asks V8 to optimise sooner. It does so when a function has run for a good while, which suits programs that compute; a
 * gateway carries a few hundred calls, and most of them would be interpreted. `npm run bench:gateway` measures the difference.
 *
 * What was optimised is lost again when V8 tidies up its memory in a quiet moment. `--no-incremental-marking` would keep it
 * from that, but calls to HTTP servers make so much garbage that they take up to a third longer without it.
 * @module
 */
import { setFlagsFromString } from 'node:v8';

/** By V8's major version, those of Node 20 and 22. Others do not know these flags and would say so on stderr. */
const FLAGS: ReadonlyMap<number, string> = new Map([
  [11, '--interrupt-budget=5000'],
  [12, '--invocation-count-for-turbofan=100'],
]);

/** The flag for a version of V8; undefined where there is none that helps. */
export const earlyFlag = (v8: string = process.versions.v8): string | undefined => FLAGS.get(Number.parseInt(v8, 10));

/** To be called when everything is loaded: what starts a process runs once. */
export function optimiseEarly(): void {
  const flag = earlyFlag();
  if (flag !== undefined) setFlagsFromString(flag);
}
