/**
 * Finds the clients on this machine and the servers in their files. Files are only read and parsed: nothing is started,
 * so no trust is needed.
 * @module
 */
import { dirname } from 'node:path';
import { CLIENT_TYPES, type ClientType, clientOf } from '../clients/importers/clients.ts';
import { pays } from '../clients/importers/count-entries.ts';
import { type ImportContext, type ImportedSource, importFile } from '../clients/importers/import-file.ts';
import { countingFiles, type FileScope } from '../clients/importers/list-clients.ts';
import { LIMITS } from '../core/limits.ts';
import { joinServers } from './join-servers.ts';
import { lookBudget, TooMuch } from './look-budget.ts';
import { pinsFor } from './pins.ts';
import { Snapshot } from './project-snapshot.ts';
import { readIfPresent } from './read-file.ts';
import type { PlacedEntry } from './server-entry.ts';
import type { World } from './world.ts';

/** One file of a client, as far as it could be parsed. */
export interface FoundFile extends Pick<ImportedSource, 'entries' | 'warnings' | 'skipped'> {
  readonly path: string;
  readonly scope: FileScope;
  /** What is wrong with the file; undefined when nothing is. */
  readonly problem: string | undefined;
}

/** A client with at least one file on this machine. */
export interface FoundClient {
  readonly type: ClientType;
  readonly title: string;
  readonly files: readonly FoundFile[];
}

/** Returns every client with a file, in the order of `auto`. A file that two clients read belongs to the first. */
export async function findClients(world: World): Promise<readonly FoundClient[]> {
  const seen = new Set<string>();
  const found: FoundClient[] = [];
  const anything = importAnything(world);
  for (const type of CLIENT_TYPES) {
    const client = clientOf(type);
    const places = countingFiles(client, world).filter(({ path }) => !seen.has(path));
    for (const { path } of places) seen.add(path);
    if (places.length === 0) continue;
    const files: FoundFile[] = [];
    for (const { path, scope, root } of places) {
      const imported = await importFile({ type, path, scope, root }, { ...anything, base: dirname(path) });
      const { source, entries, warnings, skipped } = imported;
      const problem = source.status === 'ok' ? undefined : source.message;
      files.push({ path, scope, problem, entries, warnings: problem === undefined ? warnings : [], skipped });
    }
    found.push({ type, title: client.title, files });
  }
  return found;
}

/** The first entry of a server. */
interface FoundBefore {
  readonly name: string;
  readonly client: FoundClient;
}

/** How the entries of several clients combine. */
export interface JoinedEntries {
  /** Entries for a server that an earlier entry already defines. */
  readonly shared: ReadonlyMap<PlacedEntry, FoundBefore>;
  /** Entries that are renamed because another server has their name. */
  readonly renamed: ReadonlyMap<PlacedEntry, string>;
}

/** Joins the entries of clients as a configuration that names all of them would. */
export function joinEntries(clients: readonly FoundClient[]): JoinedEntries {
  const placed = clients.flatMap((client) =>
    client.files.flatMap(({ entries }) => entries.map((entry) => ({ client, entry }))),
  );
  const { names } = joinServers(
    [],
    placed.map(({ entry }) => entry),
  );
  const first = new Map<string, FoundBefore>();
  const shared = new Map<PlacedEntry, FoundBefore>();
  const renamed = new Map<PlacedEntry, string>();
  for (const [at, { client, entry }] of placed.entries()) {
    const name = names[at] ?? entry.entry.name;
    const before = first.get(name);
    if (before !== undefined) shared.set(entry, before);
    else {
      first.set(name, { name: entry.entry.name, client });
      if (name !== entry.entry.name) renamed.set(entry, name);
    }
  }
  return { shared, renamed };
}

/** Import context for display: needs no trust. Must not be used for anything that runs. */
const importAnything = (world: World): Omit<ImportContext, 'base'> => {
  const files = new Snapshot();
  const budget = lookBudget();
  const peek = (path: string): string | undefined => {
    const text = files.peek(path);
    if (text !== undefined && !pays(budget, path, text)) throw new TooMuch(path);
    return text;
  };
  return {
    world,
    // The budget is charged in `peek` instead.
    budget: { left: Number.POSITIVE_INFINITY },
    maxServers: LIMITS.files.servers,
    read: async (path, isProjects = false) => (isProjects ? peek(path) : readIfPresent(path)),
    pinsOf: ({ scope, root }) =>
      scope === 'project' && root !== undefined
        ? pinsFor(new Snapshot({ folder: root }, files), root, world)
        : undefined,
    isTrusted: async () => true,
    isTrustedProject: async () => true,
  };
};
