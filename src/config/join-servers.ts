/**
 * Joins the servers of the configuration and of each source into one list with unique names. The same server found twice
 * is kept once: same program or address, arguments, environment and headers. Any other of the same name is called after
 * its client, or gets a number, and that is said; values of two entries are never mixed. A server of the user's keeps its
 * name and its settings, whatever came with a project.
 * @module
 */

import { toToolRules } from '../clients/importers/tool-filter.ts';
import { LIMITS } from '../core/limits.ts';
import type { ServerDefinition, ToolRule } from '../core/types.ts';
import { OWNERS_SETTINGS } from './project-settings.ts';
import { mergeEntries, narrowedEntry, type PlacedEntry, toServerDefinition } from './server-entry.ts';
import { isReservedName } from './server-schema.ts';

/** What joining gives. */
export interface JoinedServers {
  readonly servers: readonly ServerDefinition[];
  /** The same before they were completed. */
  readonly placed: readonly PlacedEntry[];
  /** The name that each imported entry has here, in their order. */
  readonly names: readonly string[];
  /** What the tool lists of imported entries mean, for the servers they belong to. */
  readonly toolRules: readonly ToolRule[];
  /** Those of entries of the user's. */
  readonly usersToolRules: readonly ToolRule[];
  readonly warnings: readonly string[];
  /** Entries that say nothing about how to reach the server, in the configuration and in no source. */
  readonly unreachable: readonly PlacedEntry[];
}

/**
 * Joins the configuration's own entries, which come first, with those of the sources. Names are given to what the user has
 * before they are given to what came with a project.
 */
export function joinServers(own: readonly PlacedEntry[], imported: readonly PlacedEntry[]): JoinedServers {
  const join = new Join();
  const isUsers = ({ isProjects }: PlacedEntry) => !isProjects;
  const users = own.filter(isUsers);
  const projects = own.filter((placed) => placed.isProjects);
  for (const placed of users) join.own(placed);
  for (const placed of imported.filter(isUsers)) join.imported(placed);
  for (const placed of projects) join.projects(placed);
  for (const placed of imported.filter((each) => each.isProjects)) join.imported(placed);
  return join.result(own, imported);
}

class Join {
  readonly #byName = new Map<string, PlacedEntry>();
  /** Names of which the configuration itself says something. */
  readonly #decided = new Set<string>();
  readonly #twins = new Map<string, Twin>();
  readonly #lastNumber = new Map<string, number>();
  readonly #warnings: string[] = [];
  readonly #names = new Map<PlacedEntry, string>();
  /** By client and name, the name that an entry which is not used would have. */
  readonly #hidden = new Map<string, string>();
  /** Entries of the configuration that say something of a server which another file has. */
  readonly #words = new Map<string, PlacedEntry>();

  own(placed: PlacedEntry): void {
    const { name } = placed.entry;
    this.#byName.set(name, placed);
    if (placed.entry.connection === undefined) this.#words.set(name, placed);
    this.#decided.add(name);
    this.#names.set(placed, name);
  }

  /** An entry of a project's configuration. Without a connection it says something of whoever has the name. */
  projects(placed: PlacedEntry): void {
    const { entry } = placed;
    const present = this.#byName.get(entry.name);
    if (present === undefined || present.entry.connection === undefined) {
      this.own(present === undefined ? placed : mergeEntries(present, placed));
      this.#names.set(placed, entry.name);
      return;
    }
    this.#names.set(placed, entry.name);
    if (isSameServer(present, placed)) {
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
      // Whoever writes of the name knows it.
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

  /** What to do where the note is of no use any more. What a project brings is not always there to be written of. */
  #asKnown({ entry, isProjects }: PlacedEntry, name: string): string {
    if (isProjects || !this.#byName.has(entry.name)) return '';
    return ` To keep both without this note, add {"name": ${JSON.stringify(name)}} to "servers" in your configuration.`;
  }

  /** What is off by its name is off under any other it has here, unless that is said to be on. */
  #asSaid(placed: PlacedEntry): PlacedEntry {
    const { entry, origin } = placed;
    const isOff = this.#words.get(origin.name ?? '')?.entry.enabled === false;
    if (!isOff || this.#words.get(entry.name)?.entry.enabled === true) return placed;
    return { ...placed, isDecided: true, entry: { ...entry, enabled: false } };
  }

  /** Inside one client a project's entry may stand for one of the user's. It gets that name, and no other one does. */
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

  /** The server stays the user's. */
  #narrow(name: string, users: PlacedEntry, placed: PlacedEntry): void {
    const ignored = OWNERS_SETTINGS.filter((key) => placed.entry[key] !== undefined);
    const on = placed.entry.enabled === true && users.entry.enabled === false ? ['enabled'] : [];
    // Of a client's file, only what somebody wrote on purpose is worth a word.
    if (placed.origin.client === undefined && ignored.length + on.length > 0) {
      const { file, path } = placed.origin;
      this.#warnings.push(
        `${file}: ${path}: ${[...ignored, ...on].join(', ')} ignored, because the server is one of your own.`,
      );
    }
    this.#byName.set(name, narrowedEntry(users, placed));
  }

  result(own: readonly PlacedEntry[], imported: readonly PlacedEntry[]): JoinedServers {
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
        // Another server has this name in its own file.
        return elsewhere.has(name) ? rules.map((rule) => ({ ...rule, exact: true })) : rules;
      });
    return {
      servers: joined.map(toServerDefinition).filter((server) => server !== undefined),
      placed: joined,
      names: imported.map((placed) => this.#names.get(placed) ?? placed.entry.name),
      toolRules: rulesOf(joined),
      usersToolRules: rulesOf(joined.filter(({ isProjects }) => !isProjects)),
      warnings: this.#warnings,
      unreachable: joined.filter(({ entry }) => entry.connection === undefined),
    };
  }
}

/** The entry under the name it has here. */
const renamed = (placed: PlacedEntry, name: string): PlacedEntry => ({
  ...placed,
  entry: { ...placed.entry, name },
  origin: name === placed.entry.name ? placed.origin : { ...placed.origin, name: placed.entry.name },
});

/** Entries that are one server may spell it differently, such as headers in capitals: the first spelling counts. */
const asIn = ({ entry: { connection } }: PlacedEntry, placed: PlacedEntry): PlacedEntry =>
  connection === undefined ? placed : { ...placed, entry: { ...placed.entry, connection } };

/** A server that one client switched off and another uses is used. What the configuration itself says stands. */
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
function differences(present: PlacedEntry, placed: PlacedEntry): readonly string[] {
  const [first, second] = [traitsOf(present), traitsOf(placed)];
  if (first === undefined || second === undefined || first.reached !== second.reached) return [];
  const values = new Map(first.given);
  const others = new Map(second.given);
  const names = [...new Set([...values.keys(), ...others.keys()])].filter(
    (name) => values.get(name) !== others.get(name),
  );
  return names.length > LIMITS.shown.named ? [...names.slice(0, LIMITS.shown.named), '…'] : names;
}

/** An entry without a connection stands for whatever server has its name. */
export function isSameServer(a: PlacedEntry, b: PlacedEntry): boolean {
  const [left, right] = [identityOf(a), identityOf(b)];
  return left === undefined || right === undefined || left === right;
}

/** Two entries that say how to reach a server, and say the same. */
export const isTheSame = (a: PlacedEntry, b: PlacedEntry): boolean => {
  const identity = identityOf(a);
  return identity !== undefined && identity === identityOf(b);
};

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
