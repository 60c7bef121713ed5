/**
 * Joins the servers of the configuration and of each source into one list with unique names. Two entries are the same
 * server if program or address, arguments, environment and headers are equal; such a server is listed once. A different
 * server with the same name is qualified with its client's name or a number, and a warning says so. Values of two
 * entries are never mixed. A server of the user keeps its name and settings, whatever a project contains.
 * @module
 */

import { toToolRules } from '../clients/importers/tool-filter.ts';
import type { ApprovalMode } from '../core/approval-mode.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition, ToolRule } from '../core/types.ts';
import { OWNERS_SETTINGS } from './project-settings.ts';
import { mergeEntries, narrowedEntry, type PlacedEntry, toServerDefinition } from './server-entry.ts';
import { identityOf, traitsOf } from './server-identity.ts';
import { isReservedName } from './server-schema.ts';

/** The result of joining. */
export interface JoinedServers {
  readonly servers: readonly ServerDefinition[];
  /** The servers' entries before completion. */
  readonly placed: readonly PlacedEntry[];
  /** The final name of each imported entry, in their order. */
  readonly names: readonly string[];
  /** Rules made from the tool lists of imported entries. */
  readonly toolRules: readonly ToolRule[];
  /** The rules made from the user's entries only. */
  readonly usersToolRules: readonly ToolRule[];
  readonly warnings: readonly string[];
  /** Entries without a connection, for which no source has one either. */
  readonly unreachable: readonly PlacedEntry[];
}

/**
 * Joins the configuration's own entries, which come first, with those of the sources. The user's entries get their
 * names before the project's entries.
 * @param approval the setting for all servers
 */
export function joinServers(
  own: readonly PlacedEntry[],
  imported: readonly PlacedEntry[],
  approval?: ApprovalMode,
): JoinedServers {
  const join = new Join();
  const isUsers = ({ isProjects }: PlacedEntry) => !isProjects;
  const users = own.filter(isUsers);
  const projects = own.filter((placed) => placed.isProjects);
  for (const placed of users) join.own(placed);
  for (const placed of imported.filter(isUsers)) join.imported(placed);
  for (const placed of projects) join.projects(placed);
  for (const placed of imported.filter((each) => each.isProjects)) join.imported(placed);
  return join.result(own, imported, approval);
}

class Join {
  readonly #byName = new Map<string, PlacedEntry>();
  /** Names that the configuration itself mentions. */
  readonly #decided = new Set<string>();
  readonly #twins = new Map<string, Twin>();
  readonly #lastNumber = new Map<string, number>();
  readonly #warnings: string[] = [];
  readonly #names = new Map<PlacedEntry, string>();
  /** Names reserved for unused entries, by client and original name. */
  readonly #hidden = new Map<string, string>();
  /** Entries of the configuration that adjust a server of another file. */
  readonly #words = new Map<string, PlacedEntry>();

  own(placed: PlacedEntry): void {
    const { name } = placed.entry;
    this.#byName.set(name, placed);
    if (placed.entry.connection === undefined) this.#words.set(name, placed);
    this.#decided.add(name);
    this.#names.set(placed, name);
  }

  /** Adds an entry of a project's configuration. Without a connection it adjusts the server of that name. */
  projects(placed: PlacedEntry): void {
    const { entry } = placed;
    const present = this.#byName.get(entry.name);
    if (present === undefined || present.entry.connection === undefined) {
      this.own(present === undefined ? placed : mergeEntries(present, placed));
      this.#names.set(placed, entry.name);
      return;
    }
    this.#names.set(placed, entry.name);
    if (mayBeSameServer(present, placed)) {
      this.#narrow(entry.name, present, placed);
      return;
    }
    const name = freeName(placed, this.#byName, this.#lastNumber);
    this.#warnings.push(`${said(placed)} is called "${name}" here, because ${reason(placed, this.#byName)}.`);
    this.#names.set(placed, name);
    this.#byName.set(name, renamed(placed, name));
    this.#decided.add(name);
  }

  imported(placed: PlacedEntry): void {
    if (placed.isProjects && this.#replaced(placed)) return;
    const twin = twinOf(placed, this.#twins, this.#byName);
    const name = twin?.name ?? freeName(placed, this.#byName, this.#lastNumber);
    const present = this.#byName.get(name);
    this.#names.set(placed, name);
    if (twin !== undefined) {
      this.#warnings.push(
        `${said(placed)} is the same as "${name}" in ${twin.file}, so it is listed once, as "${name}".`,
      );
    } else if (name !== placed.entry.name && !this.#decided.has(name)) {
      // A name that the configuration mentions needs no warning.
      this.#warnings.push(
        `${said(placed)} is called "${name}" here, because ${reason(placed, this.#byName)}.${this.#asKnown(placed, name)}`,
      );
    }
    const here = this.#asSaid(renamed(placed, name));
    if (present?.entry.connection !== undefined && !present.isProjects && placed.isProjects) {
      this.#narrow(name, present, placed);
      return;
    }
    const joined = present === undefined ? here : mergeEntries(present, asIn(present, here));
    const used = this.#decided.has(name) ? joined : usedAnywhere(joined, present, here);
    this.#byName.set(name, { ...used, isHidden: placed.isHidden });
    if (!placed.isHidden) remember(here, this.#twins);
    else this.#hidden.set(JSON.stringify([placed.origin.client, placed.origin.name ?? placed.entry.name]), name);
  }

  /** Tells how to silence the warning. Empty for a project's entry, since it is not always present. */
  #asKnown({ entry, isProjects }: PlacedEntry, name: string): string {
    if (isProjects || !this.#byName.has(entry.name)) return '';
    return ` To keep both without this note, add {"name": ${JSON.stringify(name)}} to "servers" in your configuration.`;
  }

  /** A server switched off by its original name stays off under its new name, unless the new name is switched on. */
  #asSaid(placed: PlacedEntry): PlacedEntry {
    const { entry, origin } = placed;
    const isOff = this.#words.get(origin.name ?? '')?.entry.enabled === false;
    if (!isOff || this.#words.get(entry.name)?.entry.enabled === true) return placed;
    return { ...placed, isDecided: true, entry: { ...entry, enabled: false } };
  }

  /**
   * Within one client, a project's entry may replace the user's entry of the same name. It then takes over that name.
   */
  #replaced(placed: PlacedEntry): boolean {
    const { entry, origin } = placed;
    const kept = this.#hidden.get(JSON.stringify([origin.client, entry.name])) ?? '';
    const hidden = this.#byName.get(kept);
    if (!hidden?.isHidden) return false;
    const { name } = hidden.entry;
    const word = this.#words.get(name);
    const here = renamed(placed, name);
    this.#names.set(placed, name);
    this.#byName.set(name, word === undefined ? here : mergeEntries(word, here));
    this.#warnings.push(
      `${said(placed)} is used here in place of yours in ${hidden.origin.file}, as ${origin.client} does.`,
    );
    return true;
  }

  /** Narrows the user's server by a project's entry; the server stays the user's. */
  #narrow(name: string, users: PlacedEntry, placed: PlacedEntry): void {
    const ignored = OWNERS_SETTINGS.filter((key) => placed.entry[key] !== undefined);
    const on = placed.entry.enabled === true && users.entry.enabled === false ? ['enabled'] : [];
    // Entries of a client's file are not warned about: their settings were not written for this gateway.
    if (placed.origin.client === undefined && ignored.length + on.length > 0) {
      const { file, path } = placed.origin;
      this.#warnings.push(
        `${file}: ${path}: ${[...ignored, ...on].join(', ')} ignored, because the server is one of your own.`,
      );
    }
    this.#byName.set(name, narrowedEntry(users, placed));
  }

  result(own: readonly PlacedEntry[], imported: readonly PlacedEntry[], approval?: ApprovalMode): JoinedServers {
    const order = new Map<string, number>();
    for (const [at, placed] of [...own, ...imported].entries()) {
      const name = this.#names.get(placed) ?? '';
      if (!order.has(name)) order.set(name, at);
    }
    const at = ({ entry }: PlacedEntry) => order.get(entry.name) ?? 0;
    const joined = [...this.#byName.values()].filter(({ isHidden }) => !isHidden).sort((a, b) => at(a) - at(b));
    const elsewhere = new Set(joined.map(({ origin }) => origin.name));
    const rulesOf = (wanted: readonly PlacedEntry[]) =>
      wanted.flatMap(({ entry: { name }, filter }) => {
        const rules = filter === undefined ? [] : toToolRules(name, filter);
        // Another server uses this name as its original name, so the rule must match the final name only.
        return elsewhere.has(name) ? rules.map((rule) => ({ ...rule, exact: true })) : rules;
      });
    return {
      servers: joined.map((placed) => toServerDefinition(placed, approval)).filter((server) => server !== undefined),
      placed: joined,
      names: imported.map((placed) => this.#names.get(placed) ?? placed.entry.name),
      toolRules: rulesOf(joined),
      usersToolRules: rulesOf(joined.filter(({ isProjects }) => !isProjects)),
      warnings: this.#warnings,
      unreachable: joined.filter(({ entry }) => entry.connection === undefined),
    };
  }
}

/** Returns the entry under its new name. */
const renamed = (placed: PlacedEntry, name: string): PlacedEntry => ({
  ...placed,
  entry: { ...placed.entry, name },
  origin: name === placed.entry.name ? placed.origin : { ...placed.origin, name: placed.entry.name },
});

/**
 * Two entries of one server may spell the connection differently, such as header names in capitals. The first spelling
 * counts.
 */
const asIn = ({ entry: { connection } }: PlacedEntry, placed: PlacedEntry): PlacedEntry =>
  connection === undefined ? placed : { ...placed, entry: { ...placed.entry, connection } };

/** A server that one client switched off and another uses is on. The configuration itself has the last word. */
function usedAnywhere(joined: PlacedEntry, present: PlacedEntry | undefined, placed: PlacedEntry): PlacedEntry {
  if (present?.origin.client === undefined || placed.origin.client === undefined) return joined;
  if (present.isDecided || placed.isDecided) {
    return {
      ...joined,
      isDecided: true,
      entry: { ...joined.entry, enabled: (present.isDecided ? present : placed).entry.enabled },
    };
  }
  const enabled = present.entry.enabled !== false || placed.entry.enabled !== false;
  return { ...joined, entry: { ...joined.entry, enabled } };
}

const said = ({ origin, entry }: PlacedEntry): string => `${origin.file}: server "${entry.name}"`;

/** The first entry of a client's server. */
interface Twin {
  readonly name: string;
  readonly file: string;
}

/** Finds the same server, including environment and headers, under another name in another client's file. */
function twinOf(
  placed: PlacedEntry,
  twins: ReadonlyMap<string, Twin>,
  taken: ReadonlyMap<string, PlacedEntry>,
): Twin | undefined {
  const present = taken.get(placed.entry.name);
  if (placed.origin.client === undefined || (present !== undefined && mayBeSameServer(present, placed)))
    return undefined;
  const twin = twins.get(identity(placed) ?? '');
  return twin === undefined || twin.file === placed.origin.file ? undefined : twin;
}

function remember(placed: PlacedEntry, twins: Map<string, Twin>): void {
  const key = identity(placed);
  if (key === undefined || placed.origin.client === undefined || twins.has(key)) return;
  twins.set(key, { name: placed.entry.name, file: placed.origin.file });
}

/**
 * Returns the entry's own name if it is free or means the same server; else the name qualified with its client or a
 * number.
 */
function freeName(
  placed: PlacedEntry,
  taken: ReadonlyMap<string, PlacedEntry>,
  lastNumber: Map<string, number>,
): string {
  const { entry, origin } = placed;
  const fits = (candidate: string) => {
    const present = taken.get(candidate);
    return present === undefined || mayBeSameServer(present, placed);
  };
  if (!isReservedName(entry.name) && fits(entry.name)) return entry.name;
  const owner = origin.client ?? (placed.isProjects ? 'project' : undefined);
  const qualified = owner === undefined ? entry.name : `${owner}/${entry.name}`;
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

/** The variables or headers in which two entries for one program or address differ. */
function differences({ entry: one }: PlacedEntry, { entry: other }: PlacedEntry): readonly string[] {
  if (one.connection === undefined || other.connection === undefined) return [];
  const [first, second] = [traitsOf(one.connection), traitsOf(other.connection)];
  if (first.reached !== second.reached) return [];
  const values = new Map(first.given);
  const others = new Map(second.given);
  const names = [...new Set([...values.keys(), ...others.keys()])].filter(
    (name) => values.get(name) !== others.get(name),
  );
  return names.length > LIMITS.shown.named ? [...names.slice(0, LIMITS.shown.named), '…'] : names;
}

/** Tells whether two entries may be one server. An entry without a connection matches any server of its name. */
export function mayBeSameServer(a: PlacedEntry, b: PlacedEntry): boolean {
  const [left, right] = [identity(a), identity(b)];
  return left === undefined || right === undefined || left === right;
}

/** Tells whether two entries both have a connection and their connections are equal. */
export const isSameServer = (a: PlacedEntry, b: PlacedEntry): boolean => {
  const key = identity(a);
  return key !== undefined && key === identity(b);
};

const identity = ({ entry: { connection } }: PlacedEntry): string | undefined => connection && identityOf(connection);
