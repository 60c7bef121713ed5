/**
 * Servers from the configuration and from each source in, one list with unique names out. The same server found twice
 * is kept once; a different one of the same name gets a number, and that is said.
 * @module
 */
import type { ServerDefinition } from '../types.ts';
import { mergeEntries, type PlacedEntry, toServerDefinition } from './server-entry.ts';
import { isReservedName } from './server-schema.ts';

/** What joining gives. */
export interface JoinedServers {
  readonly servers: readonly ServerDefinition[];
  readonly warnings: readonly string[];
  /** Entries that say nothing about how to reach the server, in the configuration and in no source. */
  readonly unreachable: readonly PlacedEntry[];
}

/** Joins the configuration's own entries, which come first, with those of the sources. */
export function joinServers(own: readonly PlacedEntry[], imported: readonly PlacedEntry[]): JoinedServers {
  const byName = new Map(own.map((placed) => [placed.entry.name, placed]));
  const lastNumber = new Map<string, number>();
  const warnings: string[] = [];
  for (const placed of imported) {
    const name = freeName(placed, byName, lastNumber);
    const present = byName.get(name);
    if (name !== placed.entry.name) {
      warnings.push(
        `${placed.origin.file}: server "${placed.entry.name}" is called "${name}" here, because ${reason(placed, byName)}.`,
      );
    }
    const renamed = { ...placed, entry: { ...placed.entry, name } };
    byName.set(name, present === undefined ? renamed : mergeEntries(present, renamed));
  }
  const joined = [...byName.values()];
  return {
    servers: joined.map(toServerDefinition).filter((server) => server !== undefined),
    warnings,
    unreachable: joined.filter(({ entry }) => entry.connection === undefined),
  };
}

/** The entry's own name when it is free or means the same server, else the next free number behind it. */
function freeName(
  placed: PlacedEntry,
  taken: ReadonlyMap<string, PlacedEntry>,
  lastNumber: Map<string, number>,
): string {
  const { name } = placed.entry;
  const fits = (candidate: string) => {
    const present = taken.get(candidate);
    return present === undefined || isSameServer(present, placed);
  };
  if (!isReservedName(name) && fits(name)) return name;
  let number = lastNumber.get(name) ?? 2;
  while (!fits(`${name}-${number}`)) number++;
  lastNumber.set(name, number);
  return `${name}-${number}`;
}

function reason(placed: PlacedEntry, taken: ReadonlyMap<string, PlacedEntry>): string {
  const present = taken.get(placed.entry.name);
  return present === undefined
    ? 'that name is reserved for this gateway'
    : `${present.origin.file} has another server of that name`;
}

/** An entry without a connection stands for whatever server has its name. */
function isSameServer(a: PlacedEntry, b: PlacedEntry): boolean {
  const [left, right] = [identityOf(a), identityOf(b)];
  return left === undefined || right === undefined || left === right;
}

function identityOf({ entry: { connection } }: PlacedEntry): string | undefined {
  if (connection === undefined) return undefined;
  if (connection.type === 'stdio') return JSON.stringify([connection.command, connection.args ?? [], connection.cwd]);
  const url = URL.canParse(connection.url) ? new URL(connection.url).href : connection.url;
  return url.replace(/\/$/, '');
}
