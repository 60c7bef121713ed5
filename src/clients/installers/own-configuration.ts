/**
 * Adds and removes a source in our own configuration: the copy of a client's file whose servers moved behind the
 * gateway. Only the path of that file is written, not its content.
 * @module
 */
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { findCandidates } from '../../config/find-config.ts';
import { isCode } from '../../config/parse-data.ts';
import { expandHome, expandPath } from '../../config/paths.ts';
import { findSection } from '../../config/section.ts';
import { folderNamed, stateFolder, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { withLock } from '../../disk/file-lock.ts';
import { isObject } from '../../json/plain-object.ts';
import type { ClientType } from '../importers/clients.ts';
import { valueAt } from '../importers/containers.ts';
import { documentOf } from './edit-text.ts';
import { editorFor, type KeyPath } from './editor.ts';
import { type FoundFile, readFound, refuseChanged, removeFound, replaceFound } from './files.ts';

/** A change of our configuration, ready to be written. */
export interface OwnChange {
  readonly path: string;
  /** The real path, if `path` is a symbolic link. */
  readonly target: string;
  readonly before: string;
  readonly after: string;
  /** Throws `ChangedFile` if another program has written since. */
  refuseChanged(): Promise<void>;
  write(): Promise<void>;
  /** Reverts the change, unless another program has written since. */
  undo(): Promise<void>;
}

/** Returns the configuration that this user's gateway reads wherever it starts. */
export function ownConfigurationFile(world: World, named?: string): string {
  const chosen = named ?? folderNamed('ANYGPT_CONFIG', world);
  if (chosen !== undefined) return expandPath(chosen, world.cwd, world, '--config');
  const home = findCandidates({ ...world, cwd: stateFolder(world) }).find(({ place }) => place === 'home');
  return home?.path ?? join(stateFolder(world), 'mcp-discovery.config.json');
}

/**
 * Runs work that reads and edits our configuration while no other anygpt process edits it. Must not be nested, and must
 * not wait for a person.
 */
export async function whileEditing<T>(world: World, named: string | undefined, work: () => Promise<T>): Promise<T> {
  const file = ownConfigurationFile(world, named);
  return withLock(existsSync(file) ? await realpath(file) : file, work);
}

/**
 * Tells whether our configuration names a file as a source. False for a configuration that is code or cannot be read.
 */
export async function namesSource(world: World, named: string | undefined, path: string): Promise<boolean> {
  try {
    const file = ownConfigurationFile(world, named);
    const { text } = await readFound(file);
    if (text === undefined || isCode(file)) return false;
    return (await sourcesIn(file, text)).items.some((entry) => namesPath(entry, path, world));
  } catch (error) {
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}

/**
 * Adds a source at the end, so that servers of the other sources keep their names. Returns undefined if the source is
 * already there.
 * @param brought whether a source for the whole client includes it
 */
export async function withSource(
  world: World,
  named: string | undefined,
  type: ClientType,
  path: string,
  brought: boolean,
): Promise<OwnChange | undefined> {
  const file = ownConfigurationFile(world, named);
  const source = { type, path };
  if (isCode(file)) {
    throw new ConfigurationError(
      `${file} is code, which cannot be edited automatically. Add ${JSON.stringify(source)} to its \`sources\` and run this with --config naming a JSON or YAML file, or install without --take-over.`,
    );
  }
  const found = await readFound(file);
  const text = found.text ?? '';
  const { way, items: sources } = await sourcesIn(file, text);
  if (sources.some((entry) => namesPath(entry, path, world) || (brought && isWhole(entry, type)))) return undefined;
  const after = (await editorFor(file)).insert(text, way, undefined, source, true);
  const { items: now } = await sourcesIn(file, after);
  if (JSON.stringify(now) !== JSON.stringify([...sources, source])) throw uneditable(file, source);
  return changeOf(found, after);
}

/** Removes a source; undefined when it is not there. */
export async function withoutSource(
  world: World,
  named: string | undefined,
  path: string,
): Promise<OwnChange | undefined> {
  const file = ownConfigurationFile(world, named);
  if (isCode(file)) return undefined;
  const found = await readFound(file);
  if (found.text === undefined) return undefined;
  const { way, items: sources } = await sourcesIn(file, found.text);
  const index = sources.findIndex((entry) => namesPath(entry, path, world));
  if (index === -1) return undefined;
  const editor = await editorFor(file);
  const [source] = sources.slice(index, index + 1);
  // A file with nothing but our source was created by us.
  if (editor.insert('', NEW_WAY, undefined, source) === found.text) return changeOf(found, '');
  const after = editor.remove(found.text, way, index);
  const { items: now } = await sourcesIn(file, after);
  if (JSON.stringify(now) !== JSON.stringify(sources.toSpliced(index, 1))) throw uneditable(file, source);
  return changeOf(found, after);
}

const NEW_WAY: KeyPath = ['discovery', 'sources'];

const sourcesIn = (file: string, text: string) => ownList(file, text, 'sources');

/** Returns a list of our configuration, and the keys that lead to it. Throws if something else stands there. */
export async function ownList(
  file: string,
  text: string,
  key: 'sources' | 'servers',
): Promise<{ readonly way: KeyPath; readonly items: readonly unknown[] }> {
  const document = await documentOf({ path: file, text });
  const section = Object.keys(document).length === 0 ? undefined : findSection(document, file);
  const isInside = section === undefined || (typeof section === 'object' && section.prefix !== '');
  const way = isInside ? ['discovery', key] : [key];
  const items = valueAt(document, way) ?? [];
  if (!Array.isArray(items))
    throw new ConfigurationError(`${file} cannot be edited: expected ${way.join('.')} to be a list.`);
  return { way, items };
}

const namesPath = (entry: unknown, path: string, world: World): boolean =>
  isObject(entry) && typeof entry.path === 'string' && expandHome(entry.path, world) === path;

/** Tells whether a source stands for all files of a client. */
const isWhole = (entry: unknown, type: ClientType): boolean =>
  isObject(entry) &&
  entry.enabled !== false &&
  entry.path === undefined &&
  (entry.type === type || entry.type === 'auto');

const uneditable = (file: string, source: unknown) =>
  new ConfigurationError(
    `${file} is written in a way that cannot be edited safely. Change its \`sources\` by hand: ${JSON.stringify(source)}. Nothing was written.`,
  );

/** Returns the change from a file as it was read to a new text; an empty text removes the file. */
export const changeOf = (found: FoundFile, after: string): OwnChange => {
  const written = { ...found, text: after === '' ? undefined : after };
  return {
    path: found.path,
    target: found.target,
    before: found.text ?? '',
    after,
    refuseChanged: () => refuseChanged(found),
    write: () => (after === '' ? removeFound(found) : replaceFound(found, after)),
    undo: () => (found.text === undefined ? removeFound(written) : replaceFound(written, found.text)),
  };
};
