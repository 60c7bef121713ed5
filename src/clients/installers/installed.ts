/**
 * A client's file in, what is known about our part in it out: our entry, where it stands, and what was kept of the file.
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
  /** What is wanted of a file that is too large to be read whole. */
  readonly policy?: Policy | undefined;
  readonly text: string;
  readonly document: Raw;
  readonly place: Place;
  /** What is kept of it. */
  readonly kept: KeptFile | undefined;
  /** A copy that lies there, but that was not made here, so that nothing of it is used. */
  readonly unknownCopy: string | undefined;
  /** Whether it lies where the client has the user's own files. */
  readonly own: boolean;
  /** Our entry. */
  readonly ours: { readonly name: string; readonly raw: Raw } | undefined;
  /** The name of an entry that starts this gateway, but that we did not write. */
  readonly byHand: string | undefined;
  /** Whether somebody else has our name. */
  readonly taken: boolean;
}

/**
 * Reads a file of a client.
 * @param config our configuration, where it is not the usual one
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

/** Whoever ships a file can ship a copy beside it, too; what was really moved is named or trusted here. */
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

/** Where servers stand, or will stand, in a document. */
function placeIn({ keys, install }: Client, document: Raw, path: string): Place {
  const [usual = []] = keys;
  const way = install.way?.(document, path) ?? keys.find((key) => isObject(valueAt(document, key))) ?? usual;
  if (typeof way === 'string') throw new ConfigurationError(`${path} cannot be edited: ${way}.`);
  const container = valueAt(document, way) ?? undefined;
  const list = container === undefined ? install.list?.(path) : install.list && Array.isArray(container);
  return { way, list: list ?? false };
}

/** Names of the servers that were moved behind the gateway: of those that could, the ones that left the file. */
export async function movedBefore({ type, found: { path }, document, place, kept }: Installed, world: World) {
  if (kept?.taken !== true) return [];
  const { names } = takeOverOf(type, await documentOf({ path, text: kept.text }), place, path, world, {
    all: true,
  });
  const present = entriesAt(document, place);
  return names.filter((name) => !present.has(name));
}

/** The file as it would be without us. */
export async function withoutUs(installed: Installed, world: World): Promise<string> {
  const { found, text, place, kept, ours } = installed;
  if (ours === undefined && !kept?.taken) return text;
  const file = { path: found.path, text };
  if (kept === undefined) return givenBack(file, place, ours?.name, undefined, []);
  const moved = await movedBefore(installed, world);
  return givenBack(file, place, ours?.name, await arrivalOf(installed, kept, moved), moved);
}

/** What we must have made of the file that was kept, with our entry as it is now. */
async function arrivalOf(installed: Installed, kept: KeptFile, moved: readonly string[]): Promise<Arrival> {
  const { ours, place } = installed;
  const original = kept.text;
  if (ours === undefined) return { original, changed: '' };
  try {
    return { original, changed: await withUs(installed, original, ours.name, ours.raw, moved, place) };
  } catch (error) {
    // A copy somebody wrote into says nothing about what we did.
    if (error instanceof ConfigurationError) return { original, changed: '' };
    throw error;
  }
}

/** A text with our entry and without the servers that move. */
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

/** An entry of ours, as far as it says how the gateway is started. */
export interface OwnEntry {
  readonly name: string;
  /** The command line; empty for an address. */
  readonly command: readonly string[];
  /** Written by a person, so that installing leaves it alone. */
  readonly byHand: boolean;
}

/** The entry that starts this gateway in a file of a client; undefined where there is none, or the file is broken. */
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
