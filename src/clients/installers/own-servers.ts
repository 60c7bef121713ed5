/**
 * Adds, removes, switches and updates servers in our own configuration. The text around an entry stays, comments included. The
 * result is parsed and compared: if anything else changed, it is refused.
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { isCode } from '../../config/parse-data.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { isObject } from '../../json/plain-object.ts';
import { documentOf } from './edit-text.ts';
import { type Editor, editorFor, type KeyPath, UneditableText } from './editor.ts';
import { readFound } from './files.ts';
import { changeOf, type OwnChange, ownConfigurationFile, ownList } from './own-configuration.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Returns the entry of a server in our own configuration; undefined if it has none there. */
export async function ownServer(world: World, named: string | undefined, name: string): Promise<Entry | undefined> {
  const file = ownConfigurationFile(world, named);
  const { text } = await readFound(file);
  if (text === undefined || isCode(file)) return undefined;
  return (await ownList(file, text, 'servers')).items.find(isNamed(name));
}

/** Adds a server at the end. */
export const withServer = (world: World, named: string | undefined, entry: Entry): Promise<OwnChange> =>
  edited(world, named, entry, (editor, text, way, servers) => ({
    text: editor.insert(text, way, undefined, entry, true),
    servers: [...servers, entry],
  }));

export const withoutServer = (world: World, named: string | undefined, name: string): Promise<OwnChange> =>
  edited(world, named, { name }, (editor, text, way, servers) => {
    const at = servers.findIndex(isNamed(name));
    return { text: editor.remove(text, way, at), servers: servers.toSpliced(at, 1) };
  });

/** Sets `enabled` in the entry of a server, or removes it; adds an entry where there is none. */
export async function withSwitch(
  world: World,
  named: string | undefined,
  name: string,
  enabled: boolean | undefined,
): Promise<OwnChange> {
  const own = await ownServer(world, named, name);
  if (own === undefined) return withServer(world, named, { name, enabled });
  return edited(world, named, { name, enabled }, (editor, text, way, servers) => {
    const at = servers.findIndex(isNamed(name));
    const { enabled: was, ...rest } = servers[at] as Entry;
    const without = was === undefined ? text : editor.remove(text, [...way, at], 'enabled');
    const after = enabled === undefined ? without : editor.insert(without, [...way, at], 'enabled', enabled);
    return { text: after, servers: servers.with(at, enabled === undefined ? rest : { ...rest, enabled }) };
  });
}

/** A text in an entry that becomes another one. */
export interface TextChange {
  /** The keys that lead to it. */
  readonly way: readonly (string | number)[];
  readonly from: string;
  readonly to: string;
}

/** Replaces texts in the entry of a server, each where it is written. */
export const withTexts = (
  world: World,
  named: string | undefined,
  name: string,
  changes: readonly TextChange[],
): Promise<OwnChange> =>
  edited(world, named, { name, changes }, async (_editor, text, way, servers, says) => {
    let now: Edited = { text, servers };
    for (const { way: place, from, to } of changes) {
      const at = now.servers.findIndex(isNamed(name));
      const wanted = now.servers.with(at, withText(now.servers[at], place, to));
      now = {
        text: await replacedOnce(now.text, from, to, (candidate) => says(candidate, way, wanted)),
        servers: wanted,
      };
    }
    return now;
  });

const withText = (value: unknown, [key, ...rest]: TextChange['way'], text: string): unknown => {
  if (key === undefined) return text;
  if (Array.isArray(value)) return value.with(Number(key), withText(value[Number(key)], rest, text));
  return isObject(value) ? { ...value, [key]: withText(value[key], rest, text) } : value;
};

/** Replaces the one place of a text that makes the file say what it should. */
async function replacedOnce(
  text: string,
  from: string,
  to: string,
  isRight: (candidate: string) => Promise<boolean>,
): Promise<string> {
  let at = text.indexOf(from);
  for (let tries = 0; at >= 0 && tries < LIMITS.files.places; tries++) {
    const candidate = text.slice(0, at) + to + text.slice(at + from.length);
    if (await isRight(candidate)) return candidate;
    at = text.indexOf(from, at + 1);
  }
  throw new UneditableText(`${JSON.stringify(from)} was not found as it is`);
}

const isNamed =
  (name: string) =>
  (entry: unknown): entry is Entry =>
    isObject(entry) && entry.name === name;

interface Edited {
  readonly text: string;
  /** What the list then has to be. */
  readonly servers: readonly unknown[];
}

async function edited(
  world: World,
  named: string | undefined,
  entry: Entry,
  edit: (
    editor: Editor,
    text: string,
    way: KeyPath,
    servers: readonly unknown[],
    /** Tells whether another text says the same as the file, with other servers. */
    says: (text: string, way: KeyPath, servers: readonly unknown[]) => Promise<boolean>,
  ) => Edited | Promise<Edited>,
): Promise<OwnChange> {
  const file = ownConfigurationFile(world, named);
  if (isCode(file))
    throw new ConfigurationError(
      `${file} is code, which cannot be edited automatically. Change its \`servers\` by hand: ${JSON.stringify(entry)}.`,
    );
  const found = await readFound(file);
  const text = found.text ?? '';
  const { way, items } = await ownList(file, text, 'servers');
  try {
    const before = await documentOf({ path: file, text });
    const says: Parameters<typeof edit>[4] = async (changed, list, servers) => {
      const now = await documentOf({ path: file, text: changed }).catch(() => undefined);
      return now !== undefined && isSame(withList(before, list, servers), now);
    };
    const after = await edit(await editorFor(file), text, way, items, says);
    if (await says(after.text, way, after.servers)) return changeOf(found, after.text);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
  }
  throw new ConfigurationError(
    `${file} is written in a way that cannot be edited safely. Change its \`servers\` by hand: ${JSON.stringify(entry)}. Nothing was written.`,
  );
}

/** The document with another list at the end of the way. */
const withList = (document: unknown, [key, ...rest]: KeyPath, list: readonly unknown[]): unknown =>
  key === undefined
    ? list
    : { ...(isObject(document) ? document : {}), [key]: withList(isObject(document) ? document[key] : {}, rest, list) };

/** Compares what the documents say; parsers differ in the prototypes of their objects. */
const isSame = (a: unknown, b: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
