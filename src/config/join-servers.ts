/**
 * Joins the servers of the configuration and of each source into one list with unique names. The same server found twice
 * is kept once: same program or address, arguments, environment and headers. Any other of the same name is called after
 * its client, or gets a number, and that is said; values of two entries are never mixed.
 * @module
 */
import type { ServerDefinition, ToolRule } from '../types.ts';
import { toToolRules } from './importers/tool-filter.ts';
import { mergeEntries, type PlacedEntry, toServerDefinition } from './server-entry.ts';
import { isReservedName } from './server-schema.ts';

/** What joining gives. */
export interface JoinedServers {
  readonly servers: readonly ServerDefinition[];
  /** The name that each imported entry has here, in their order. */
  readonly names: readonly string[];
  /** What the tool lists of imported entries mean, for the servers they belong to. */
  readonly toolRules: readonly ToolRule[];
  readonly warnings: readonly string[];
  /** Entries that say nothing about how to reach the server, in the configuration and in no source. */
  readonly unreachable: readonly PlacedEntry[];
}

/** Joins the configuration's own entries, which come first, with those of the sources. */
export function joinServers(own: readonly PlacedEntry[], imported: readonly PlacedEntry[]): JoinedServers {
  const byName = new Map(own.map((placed) => [placed.entry.name, placed]));
  const decided = new Set(byName.keys());
  const twins = new Map<string, Twin>();
  const lastNumber = new Map<string, number>();
  const warnings: string[] = [];
  const names: string[] = [];
  for (const placed of imported) {
    const twin = twinOf(placed, twins, byName);
    const name = twin?.name ?? freeName(placed, byName, lastNumber);
    const present = byName.get(name);
    names.push(name);
    if (twin !== undefined) {
      warnings.push(`${said(placed)} is the same as "${name}" in ${twin.file}, so it is listed once, as "${name}".`);
    } else if (name !== placed.entry.name) {
      warnings.push(`${said(placed)} is called "${name}" here, because ${reason(placed, byName)}.`);
    }
    const renamed = {
      ...placed,
      entry: { ...placed.entry, name },
      origin: name === placed.entry.name ? placed.origin : { ...placed.origin, name: placed.entry.name },
    };
    const joined = present === undefined ? renamed : mergeEntries(present, asIn(present, renamed));
    byName.set(name, decided.has(name) ? joined : usedAnywhere(joined, present, renamed));
    remember(renamed, twins);
  }
  const joined = [...byName.values()];
  return {
    servers: joined.map(toServerDefinition).filter((server) => server !== undefined),
    names,
    toolRules: joined.flatMap(({ entry, filter }) => (filter === undefined ? [] : toToolRules(entry.name, filter))),
    warnings,
    unreachable: joined.filter(({ entry }) => entry.connection === undefined),
  };
}

/** Entries that are one server may spell it differently, such as headers in capitals: the first spelling counts. */
const asIn = ({ entry: { connection } }: PlacedEntry, placed: PlacedEntry): PlacedEntry =>
  connection === undefined ? placed : { ...placed, entry: { ...placed.entry, connection } };

/** A server that one client switched off and another uses is used. What the configuration itself says stands. */
function usedAnywhere(joined: PlacedEntry, present: PlacedEntry | undefined, placed: PlacedEntry): PlacedEntry {
  if (present?.origin.client === undefined || placed.origin.client === undefined) return joined;
  const enabled = present.entry.enabled !== false || placed.entry.enabled !== false;
  return { ...joined, entry: { ...joined.entry, enabled } };
}

const said = ({ origin, entry }: PlacedEntry): string => `${origin.file}: server "${entry.name}"`;

/** The first place a server of a client was found. */
interface Twin {
  readonly name: string;
  readonly file: string;
}

/** The same server, environment and headers included, under another name in another client's file. */
function twinOf(
  placed: PlacedEntry,
  twins: ReadonlyMap<string, Twin>,
  taken: ReadonlyMap<string, PlacedEntry>,
): Twin | undefined {
  const present = taken.get(placed.entry.name);
  if (placed.origin.client === undefined || (present !== undefined && isSameServer(present, placed))) return undefined;
  const twin = twins.get(identityOf(placed) ?? '');
  return twin === undefined || twin.file === placed.origin.file ? undefined : twin;
}

function remember(placed: PlacedEntry, twins: Map<string, Twin>): void {
  const identity = identityOf(placed);
  if (identity === undefined || placed.origin.client === undefined || twins.has(identity)) return;
  twins.set(identity, { name: placed.entry.name, file: placed.origin.file });
}

/** The entry's own name when it is free or means the same server, else one with its client or a number. */
function freeName(
  placed: PlacedEntry,
  taken: ReadonlyMap<string, PlacedEntry>,
  lastNumber: Map<string, number>,
): string {
  const { entry, origin } = placed;
  const fits = (candidate: string) => {
    const present = taken.get(candidate);
    return present === undefined || isSameServer(present, placed);
  };
  if (!isReservedName(entry.name) && fits(entry.name)) return entry.name;
  const qualified = origin.client === undefined ? entry.name : `${origin.client}/${entry.name}`;
  if (qualified !== entry.name && fits(qualified)) return qualified;
  let number = lastNumber.get(qualified) ?? 2;
  while (!fits(`${qualified}-${number}`)) number++;
  lastNumber.set(qualified, number);
  return `${qualified}-${number}`;
}

function reason(placed: PlacedEntry, taken: ReadonlyMap<string, PlacedEntry>): string {
  const present = taken.get(placed.entry.name);
  if (present === undefined) return 'that name is reserved for this gateway';
  const names = differences(present, placed);
  const how = names.length === 0 ? '' : `, with another ${names.join(', ')}`;
  return `${present.origin.file} has another server of that name${how}`;
}

/** Differences named at most; the values are never shown. */
const MAX_NAMED = 5;

/** The variables or headers in which two entries for one program or address differ. */
function differences(present: PlacedEntry, placed: PlacedEntry): readonly string[] {
  const [first, second] = [traitsOf(present), traitsOf(placed)];
  if (first === undefined || second === undefined || first.reached !== second.reached) return [];
  const values = new Map(first.given);
  const others = new Map(second.given);
  const names = [...new Set([...values.keys(), ...others.keys()])].filter(
    (name) => values.get(name) !== others.get(name),
  );
  return names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), '…'] : names;
}

/** An entry without a connection stands for whatever server has its name. */
function isSameServer(a: PlacedEntry, b: PlacedEntry): boolean {
  const [left, right] = [identityOf(a), identityOf(b)];
  return left === undefined || right === undefined || left === right;
}

const identityOf = (placed: PlacedEntry): string | undefined => {
  const traits = traitsOf(placed);
  return traits === undefined ? undefined : JSON.stringify([traits.reached, traits.given]);
};

/** What is started or reached, and what it is given, sorted. */
interface Traits {
  readonly reached: string;
  readonly given: readonly (readonly [string, string])[];
}

function traitsOf({ entry: { connection } }: PlacedEntry): Traits | undefined {
  if (connection === undefined) return undefined;
  if (connection.type === 'stdio') {
    const { command, args = [], cwd, env = {}, inheritEnv = [] } = connection;
    const inherited = inheritEnv
      .filter((name) => !Object.hasOwn(env, name))
      .map((name) => [name, `\${${name}}`] as const);
    return { reached: JSON.stringify([command, args, cwd]), given: sorted([...Object.entries(env), ...inherited]) };
  }
  const url = URL.canParse(connection.url) ? new URL(connection.url).href : connection.url;
  const headers = Object.entries(connection.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const token = connection.auth === undefined ? [] : [['authorization', connection.auth] as const];
  return { reached: url.replace(/\/$/, ''), given: sorted([...headers, ...token]) };
}

const sorted = (pairs: readonly (readonly [string, string])[]) =>
  pairs.toSorted(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));
