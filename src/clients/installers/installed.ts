/**
 * Reads our part of a client's file: our entry, its place, and the copy kept of the file.
 * @module
 */

import type { Policy } from '../../config/json-excerpt.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { isObject } from '../../json/plain-object.ts';
import { type Client, type ClientType, clientOf } from '../importers/clients.ts';
import { valueAt } from '../importers/containers.ts';
import { isMarked, isOurselves } from '../importers/ourselves.ts';
import { ownScope } from '../importers/own-files.ts';
import { documentOf, entriesAt, type Place, withEntry, withoutEntries } from './edit-text.ts';
import { type FoundFile, type KeptFile, readFound, readKept } from './files.ts';
import { isTrusted } from './foreign-file.ts';
import { ENTRY_NAME } from './gateway-entry.ts';
import { type Arrival, givenBack } from './give-back.ts';
import { namesSource } from './own-configuration.ts';
import { takeOverOf } from './take-over.ts';

type Raw = Readonly<Record<string, unknown>>;

/** A file and our part in it. */
export interface Installed {
  readonly type: ClientType;
  readonly client: Client;
  readonly found: FoundFile;
  /** Selects the parts of a file that is too large to be read whole. */
  readonly policy?: Policy | undefined;
  readonly text: string;
  readonly document: Raw;
  readonly place: Place;
  /** The copy kept of the file. */
  readonly kept: KeptFile | undefined;
  /** A copy that was not made on this machine, so it is not used. */
  readonly unknownCopy: string | undefined;
  /** Whether the file is in the client's usual place for the user's own files. */
  readonly own: boolean;
  /** Our entry. */
  readonly ours: { readonly name: string; readonly raw: Raw } | undefined;
  /** The name of an entry that starts this gateway but was written by hand. */
  readonly byHand: string | undefined;
  /** Whether another server has our name. */
  readonly taken: boolean;
}

/**
 * Reads a file of a client.
 * @param config our configuration, if not the default one
 */
export async function readInstalled(
  type: ClientType,
  path: string,
  config: string | undefined,
  world: World,
): Promise<Installed> {
  const client: Client = clientOf(type);
  const own = ownScope(client, path, world) !== undefined;
  const policy = own ? client.excerpt?.(world) : undefined;
  const found = await readFound(path, policy);
  const text = found.text ?? '';
  const document = await documentOf({ path, text });
  const place = placeIn(client, document, path);
  const entries = [...entriesAt(document, place)]
    .filter((entry): entry is [string, Raw] => isObject(entry[1]))
    .map(([name, raw]) => ({ name, raw, common: inCommonSpelling(client, raw) }));
  const ours =
    entries.find(({ name, common }) => name === ENTRY_NAME && isOurselves(common, name)) ??
    entries.find(({ common }) => isMarked(common));
  return {
    type,
    client,
    found,
    policy,
    text,
    document,
    place,
    ...(await knownCopy(path, own, policy, config, world)),
    own,
    ours,
    byHand: ours === undefined ? entries.find(({ common }) => isOurselves(common))?.name : undefined,
    taken: ours === undefined && entriesAt(document, place).has(ENTRY_NAME),
  };
}

/** A project may contain a copy beside its file. Only a copy that our configuration names or that is trusted counts. */
async function knownCopy(
  path: string,
  own: boolean,
  policy: Policy | undefined,
  config: string | undefined,
  world: World,
): Promise<Pick<Installed, 'kept' | 'unknownCopy'>> {
  const kept = await readKept(path, policy);
  const isKnown =
    kept?.taken !== true ||
    own ||
    (await isTrusted(kept.path, kept.text, world)) ||
    (await namesSource(world, config, kept.path));
  return isKnown
    ? { kept, unknownCopy: undefined }
    : { kept: await readKept(path, policy, false), unknownCopy: kept.path };
}

function inCommonSpelling({ adapt }: Client, raw: Raw): Raw {
  const adapted = adapt?.(raw);
  return adapted !== undefined && 'raw' in adapted ? adapted.raw : raw;
}

/** Returns where servers are, or will be, in a document. */
function placeIn({ keys, install }: Client, document: Raw, path: string): Place {
  const [usual = []] = keys;
  const way = install.way?.(document, path) ?? keys.find((key) => isObject(valueAt(document, key))) ?? usual;
  if (typeof way === 'string') throw new ConfigurationError(`${path} cannot be edited: ${way}.`);
  const container = valueAt(document, way) ?? undefined;
  const list = container === undefined ? install.list?.(path) : install.list && Array.isArray(container);
  return { way, list: list ?? false };
}

/** Returns the names of the servers that were moved behind the gateway: those in the copy that left the file. */
export async function movedBefore({ type, found: { path }, document, place, kept }: Installed, world: World) {
  if (kept?.taken !== true) return [];
  const { names } = takeOverOf(type, await documentOf({ path, text: kept.text }), place, path, world, {
    all: true,
  });
  const present = entriesAt(document, place);
  return names.filter((name) => !present.has(name));
}

/** Returns the file as it would be without our entry. */
export async function withoutUs(installed: Installed, world: World): Promise<string> {
  const { found, text, place, kept, ours } = installed;
  if (ours === undefined && !kept?.taken) return text;
  const file = { path: found.path, text };
  if (kept === undefined) return givenBack(file, place, ours?.name, undefined, []);
  const moved = await movedBefore(installed, world);
  return givenBack(file, place, ours?.name, await arrivalOf(installed, kept, moved), moved);
}

/** Reconstructs what `install` wrote, from the copy and our current entry. */
async function arrivalOf(installed: Installed, kept: KeptFile, moved: readonly string[]): Promise<Arrival> {
  const { ours, place } = installed;
  const original = kept.text;
  if (ours === undefined) return { original, changed: '' };
  try {
    return { original, changed: await withUs(installed, original, ours.name, ours.raw, moved, place) };
  } catch (error) {
    // A copy that was edited says nothing about what we changed.
    if (error instanceof ConfigurationError) return { original, changed: '' };
    throw error;
  }
}

/** Returns a text with our entry and without the servers that move. */
export async function withUs(
  { found: { path }, client }: Pick<Installed, 'found' | 'client'>,
  text: string,
  name: string,
  entry: Raw,
  moved: readonly string[],
  place: Place,
): Promise<string> {
  const rest = moved.length === 0 ? text : await withoutEntries({ path, text }, place, moved);
  const { blank = '' } = place.list ? client.install : {};
  return withEntry({ path, text: rest.trim() === '' ? rest + blank : rest }, place, name, entry);
}

/** Our entry, as far as it says how the gateway is started. */
export interface OwnEntry {
  readonly name: string;
  /** The command line; empty for an address. */
  readonly command: readonly string[];
  /** Written by hand, so `install` leaves it alone. */
  readonly byHand: boolean;
}

/** Returns the entry that starts this gateway in a client's file; undefined if there is none or the file is broken. */
export async function ownEntryIn(type: ClientType, path: string, world: World): Promise<OwnEntry | undefined> {
  try {
    const { client, document, place, ours, byHand } = await readInstalled(type, path, undefined, world);
    const name = ours?.name ?? byHand;
    const raw = name === undefined ? undefined : entriesAt(document, place).get(name);
    if (name === undefined || !isObject(raw)) return undefined;
    const { command, args } = inCommonSpelling(client, raw);
    const words = [command, Array.isArray(args) ? args : []].flat(2);
    return { name, command: words.filter((word) => typeof word === 'string'), byHand: ours === undefined };
  } catch (error) {
    if (error instanceof ConfigurationError || typeof (error as NodeJS.ErrnoException).code === 'string')
      return undefined;
    throw error;
  }
}
