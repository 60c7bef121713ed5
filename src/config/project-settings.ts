/**
 * Decides what a project's configuration may say of each setting: it can add and narrow. What the user's own file says, or
 * the default, is the floor; what goes beyond it is ignored, and that is said with the key.
 * @module
 */

import type { RulePrecedence, ToolRule } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { toPathText } from './problems.ts';
import type { PlacedEntry } from './server-entry.ts';
import type { Settings } from './settings-schema.ts';

/** What counts whatever a project says. */
export interface Floor {
  readonly settings: Settings;
  readonly toolRules: readonly ToolRule[];
  readonly rulePrecedence: RulePrecedence;
  readonly file: string;
  /** Its servers, with their names there. */
  readonly entries: readonly PlacedEntry[];
}

/** The value that counts, from the floor's and the project's; undefined: the project's is ignored. */
type Verdict = (floor: unknown, said: unknown) => unknown;

/** The project's value is not used. */
const ignored: Verdict = () => undefined;
/** It is about the project's own rules alone, beside which the user's still decide. */
const own: Verdict = (_floor, said) => said;
/** On only where both say so. */
const both: Verdict = (floor, said) => (floor === true || said === false ? said : undefined);
/** Nothing larger than the floor. */
const smaller: Verdict = (floor, said) => (Number(said) <= Number(floor) ? said : undefined);
/** Switched off, or not at all: a file of one's own would be read from the project when it is used. */
const off: Verdict = (_floor, said) => (said === false ? false : undefined);
/** Where the user has none. `trust` shows it. */
const added: Verdict = (floor, said) => (floor === undefined ? said : undefined);
const OUTPUT = ['off', 'warn', 'strict'];
const stricter: Verdict = (floor, said) =>
  OUTPUT.indexOf(String(said)) >= OUTPUT.indexOf(String(floor)) ? said : undefined;

type Table = { readonly [Key in keyof Settings]: Verdict | { readonly [Inner in keyof Settings[Key]]-?: Verdict } };

/** Every setting there is; a new one has to be decided here before it compiles. */
const VERDICTS: Table = {
  enabled: both,
  // Where things are kept, recorded and said is the user's.
  cache: ignored,
  audit: ignored,
  log: ignored,
  rulePrecedence: own,
  validation: { output: stricter },
  search: { meaning: both, phrases: off, learn: both, keepQueries: both, embedder: added },
  // Fewer repetitions are fine; shorter waits would press servers harder.
  retry: { attempts: smaller, initial: ignored, max: ignored, factor: ignored, jitter: ignored },
  limits: {
    result: smaller,
    message: smaller,
    messageValues: smaller,
    callIdle: smaller,
    callCeiling: smaller,
    listPage: smaller,
    list: smaller,
    listPages: smaller,
    toolsPerServer: smaller,
    tools: smaller,
    definition: smaller,
    description: smaller,
    concurrency: smaller,
    queue: smaller,
    queueWait: smaller,
    inFlight: smaller,
    inFlightPerClient: smaller,
    spawns: smaller,
    localServers: smaller,
    idle: smaller,
    drain: smaller,
    shutdown: smaller,
    // With less of these, calls go through unchecked, and less of what happened is recorded.
    schemaDepth: ignored,
    schemaNodes: ignored,
    validation: ignored,
    stderr: ignored,
    auditLine: ignored,
    // When a breaker opens is neither wider nor narrower.
    breaker: ignored,
  },
};

/** Settings of a server entry that a project may not put on a server of the user's own. */
export const OWNERS_SETTINGS = [
  'trusted',
  'idempotent',
  'timeouts',
  'rateLimit',
  'concurrency',
  'shared',
  'tools',
] as const;

type Written = Readonly<Record<string, unknown>>;

/** The floor with what a project narrows, and the keys that were ignored. */
export function narrowed(
  floor: Settings,
  written: Written,
  prefix: string,
): { readonly settings: Settings; readonly ignored: readonly string[] } {
  const settings: Record<string, unknown> = { ...floor };
  const refused: string[] = [];
  for (const [key, verdicts] of Object.entries(VERDICTS) as [string, Verdict | Record<string, Verdict>][]) {
    const said = written[key];
    const verdictOn = (inner: string): Verdict => (isObject(verdicts) ? (verdicts[inner] ?? ignored) : verdicts);
    if (!isObject(said)) {
      if (said !== undefined) take(settings, key, said, verdictOn(''), [key]);
      continue;
    }
    const group: Record<string, unknown> = { ...(settings[key] as object) };
    for (const [inner, value] of Object.entries(said)) {
      if (value !== undefined) take(group, inner, value, verdictOn(inner), [key, inner]);
    }
    settings[key] = group;
  }
  return { settings: settings as Settings, ignored: refused };

  function take(into: Record<string, unknown>, key: string, said: unknown, verdict: Verdict, path: string[]): void {
    const value = verdict(into[key], said);
    if (value !== undefined) into[key] = value;
    else if (JSON.stringify(said) !== JSON.stringify(into[key])) refused.push(toPathText(prefix, path));
  }
}
