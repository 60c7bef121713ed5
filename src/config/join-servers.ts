/**
 * Servers from the configuration and from each source in, one list with unique names out. The same server found twice
 * is kept once; a different one of the same name is called after its client, or gets a number, and that is said.
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
    } else if (present !== undefined) warnings.push(...differences(present, placed));
    const renamed = { ...placed, entry: { ...placed.entry, name } };
    const joined = present === undefined ? renamed : mergeEntries(present, renamed);
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
  const twin = twins.get(fullIdentityOf(placed));
  return twin === undefined || twin.file === placed.origin.file ? undefined : twin;
}

function remember(placed: PlacedEntry, twins: Map<string, Twin>): void {
  const identity = fullIdentityOf(placed);
  if (placed.origin.client === undefined || twins.has(identity)) return;
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
  return present === undefined
    ? 'that name is reserved for this gateway'
    : `${present.origin.file} has another server of that name`;
}

/** Two entries of one server may disagree in a value. The first counts, and that is said without showing either. */
function differences(present: PlacedEntry, placed: PlacedEntry): string[] {
  const [first, second] = [valuesOf(present), valuesOf(placed)];
  const names = Object.keys(second).filter((name) => Object.hasOwn(first, name) && first[name] !== second[name]);
  if (names.length === 0) return [];
  return [`${said(placed)} has another ${names.slice(0, 5).join(', ')} than in ${present.origin.file}, which counts.`];
}

const valuesOf = ({ entry: { connection } }: PlacedEntry): Readonly<Record<string, string>> =>
  (connection?.type === 'stdio' ? connection.env : connection?.headers) ?? {};

/** An entry without a connection stands for whatever server has its name. */
function isSameServer(a: PlacedEntry, b: PlacedEntry): boolean {
  const [left, right] = [identityOf(a), identityOf(b)];
  return left === undefined || right === undefined || left === right;
}

const fullIdentityOf = (placed: PlacedEntry): string =>
  JSON.stringify([identityOf(placed), Object.entries(valuesOf(placed)).sort(([a], [b]) => (a < b ? -1 : 1))]);

function identityOf({ entry: { connection } }: PlacedEntry): string | undefined {
  if (connection === undefined) return undefined;
  if (connection.type === 'stdio') return JSON.stringify([connection.command, connection.args ?? [], connection.cwd]);
  const url = URL.canParse(connection.url) ? new URL(connection.url).href : connection.url;
  return url.replace(/\/$/, '');
}
