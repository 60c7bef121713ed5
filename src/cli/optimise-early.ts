/**
 * Asks V8 to optimise sooner, and to tidy up later. It optimises when a function has run for a good while, which suits
 * programs that compute; a gateway carries a few hundred calls, and most of them would be interpreted. It tidies its memory
 * eight seconds after a process has grown, which is when an agent begins to call; newer versions wait for thirty, too.
 * `npm run bench:gateway` measures the difference.
 * @module
 */
import { setFlagsFromString } from 'node:v8';

const LATE_TIDYING = '--gc-memory-reducer-start-delay-ms=30000';
/** By V8's major version, those of Node 20 and 22. Others may not know these flags and would say so on stderr. */
const FLAGS: ReadonlyMap<number, string> = new Map([
  [11, `--interrupt-budget=5000 ${LATE_TIDYING}`],
  [12, `--invocation-count-for-turbofan=100 ${LATE_TIDYING}`],
]);

/** The flags for a version of V8; undefined where there are none that help. */
export const earlyFlags = (v8: string = process.versions.v8): string | undefined => FLAGS.get(Number.parseInt(v8, 10));

/** To be called when everything is loaded: what starts a process runs once. */
export function optimiseEarly(): void {
  const flags = earlyFlags();
  if (flags !== undefined) setFlagsFromString(flags);
}
