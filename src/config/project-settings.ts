/**
 * Decides what a project's configuration may set: it can add and narrow. The floor is the user's own file, or the
 * default. A value beyond the floor is ignored, and a warning names its key.
 * @module
 */

import { type ApprovalMode, stricterOf } from '../core/approval-mode.ts';
import type { RulePrecedence, ToolRule } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { toPathText } from './problems.ts';
import type { PlacedEntry } from './server-entry.ts';
import type { Settings } from './settings-schema.ts';

/** The settings that no project can loosen. */
export interface Floor {
  readonly settings: Settings;
  readonly toolRules: readonly ToolRule[];
  readonly rulePrecedence: RulePrecedence;
  readonly file: string;
  /** The floor's servers, under their names in that file. */
  readonly entries: readonly PlacedEntry[];
}

/** Returns the effective value; undefined means the project's value is ignored. */
type Verdict = (floor: unknown, said: unknown) => unknown;

/** Ignores the project's value. */
const ignored: Verdict = () => undefined;
/** Takes the project's value: it affects only the project's own rules, beside which the user's still decide. */
const own: Verdict = (_floor, said) => said;
/** On only if both are on. */
const both: Verdict = (floor, said) => (floor === true || said === false ? said : undefined);
/** At most the floor. */
const smaller: Verdict = (floor, said) => (Number(said) <= Number(floor) ? said : undefined);
/** May only be switched off: a file that the project names would be read later, when the setting is used. */
const off: Verdict = (_floor, said) => (said === false ? false : undefined);
/** Allowed if the user has none. `trust` shows it. */
const added: Verdict = (floor, said) => (floor === undefined ? said : undefined);
const OUTPUT = ['off', 'warn', 'strict'];
const stricter: Verdict = (floor, said) =>
  OUTPUT.indexOf(String(said)) >= OUTPUT.indexOf(String(floor)) ? said : undefined;

/** Never `off`, and at least as strict as the floor. */
const asStrict: Verdict = (floor, said) => {
  const mode = said as ApprovalMode;
  const isAsStrict = floor === undefined ? mode !== 'off' : stricterOf(mode, floor as ApprovalMode) === mode;
  return isAsStrict ? mode : undefined;
};

type Table = { readonly [Key in keyof Settings]-?: Verdict | { readonly [Inner in keyof Settings[Key]]-?: Verdict } };

/** One verdict for every setting; a new setting does not compile without one. */
const VERDICTS: Table = {
  enabled: both,
  // The user decides where data is cached, recorded and logged.
  cache: ignored,
  audit: ignored,
  log: ignored,
  // Who may use the gateway of this machine is not a project's business.
  auth: ignored,
  // Nor is where it keeps what it shares with other machines.
  cluster: ignored,
  // A project's registry would answer for the names of the user's.
  registries: ignored,
  rulePrecedence: own,
  approval: asStrict,
  // Who may use what is the operator's to say.
  profiles: ignored,
  pinned: own,
  validation: { output: stricter, observe: both },
  search: { meaning: both, phrases: off, learn: both, keepQueries: both, embedder: added },
  // Fewer retries are fine; shorter delays would put more load on servers.
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
    // With lower values, calls would go unchecked and less would be recorded.
    schemaDepth: ignored,
    schemaNodes: ignored,
    validation: ignored,
    stderr: ignored,
    auditLine: ignored,
    // No value of a breaker setting is clearly stricter than another.
    breaker: ignored,
  },
};

/** Server settings that a project may not put on the user's own servers. */
export const OWNERS_SETTINGS = [
  'approval',
  'categories',
  'domains',
  'trusted',
  'idempotent',
  'timeouts',
  'rateLimit',
  'concurrency',
  'shared',
  'credentials',
  'tools',
] as const;

type Written = Readonly<Record<string, unknown>>;

/** Applies what a project narrows to the floor, and returns the keys that were ignored. */
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
