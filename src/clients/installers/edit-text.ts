/**
 * Adds and removes entries in the text of a client's file. The result is parsed and compared: if anything else changed,
 * it is refused.
 * @module
 */

import { parseData } from '../../config/parse-data.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { isObject } from '../../json/plain-object.ts';
import { entriesIn, valueAt } from '../importers/containers.ts';
import { type Editor, editorFor, type KeyPath, UneditableText } from './editor.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Where servers are in a document. */
export interface Place {
  readonly way: KeyPath;
  /** Whether servers are a list with names inside. */
  readonly list: boolean;
}

export interface TextFile {
  /** Decides the format; named in messages. */
  readonly path: string;
  readonly text: string;
}

const MARK = '\ufeff';
const UNUSUAL = 'it is written in an unusual way';

/** Parses a text; an empty text is an empty document. */
export async function documentOf({ path, text }: TextFile): Promise<Raw> {
  const body = withoutMark(text);
  if (body.trim() === '') return {};
  const document = (await parseData(path, body, () => undefined)) ?? {};
  if (!isObject(document)) throw new ConfigurationError(`${path} cannot be edited: expected an object.`);
  return document;
}

/** Returns the entries at a place, by name. */
export function entriesAt(document: unknown, { way }: Place): ReadonlyMap<string, unknown> {
  const found = entriesIn(valueAt(document, way), '') ?? [];
  return new Map(found.map(({ name, raw }) => [name, raw]));
}

export const withEntry = (file: TextFile, place: Place, name: string, entry: unknown): Promise<string> =>
  edited(file, place, { add: [[name, entry]], drop: [] }, (editor, text) =>
    editor.insert(text, place.way, place.list ? undefined : name, entry),
  );

export const withoutEntries = (file: TextFile, place: Place, names: readonly string[]): Promise<string> =>
  edited(file, place, { add: [], drop: names }, async (editor, text) => {
    let rest = text;
    for (const name of names) {
      const container = valueAt(await documentOf({ ...file, text: rest }), place.way);
      const index = Array.isArray(container) ? container.findIndex((item) => isObject(item) && item.name === name) : -1;
      rest = editor.remove(rest, place.way, Array.isArray(container) ? index : name);
    }
    return rest;
  });

/** Removes an empty container, and the maps that only held it. */
export async function withoutContainer(file: TextFile, place: Place, original: unknown): Promise<string> {
  const document = await documentOf(file);
  const depth = place.way.findIndex((_, index) => valueAt(original, place.way.slice(0, index + 1)) === undefined);
  const way = place.way.slice(0, depth + 1);
  const key = way.at(-1);
  if (depth === -1 || key === undefined || !isBare(valueAt(document, way))) return file.text;
  return edited(file, place, { add: [], drop: [] }, (editor, text) => editor.remove(text, way.slice(0, -1), key));
}

/** Nothing, or maps and lists without values. */
const isBare = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.values(value).every(isBare));

/** Entries to add and remove, by name. */
interface Change {
  readonly add: readonly (readonly [string, unknown])[];
  readonly drop: readonly string[];
}

async function edited(
  file: TextFile,
  place: Place,
  change: Change,
  edit: (editor: Editor, text: string) => string | Promise<string>,
): Promise<string> {
  const before = await documentOf(file);
  const container = valueAt(before, place.way);
  if (container !== undefined && container !== null && Array.isArray(container) !== place.list)
    throw unfit(file, place);
  if (typeof (container ?? {}) !== 'object') throw unfit(file, place);
  try {
    const text = await edit(await editorFor(file.path), withoutMark(file.text));
    const after = await documentOf({ ...file, text });
    if (differs(before, after, place, change)) throw new UneditableText(UNUSUAL);
    return file.text.startsWith(MARK) ? MARK + text : text;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // A parser's message about the text we generated would not help the user.
    const why = error instanceof UneditableText ? error.message.replace(/\.$/, '') : UNUSUAL;
    throw new ConfigurationError(
      `${file.path} cannot be edited without touching more than our entry (${why}). Nothing was written; change it by hand.`,
      [],
      { cause: error },
    );
  }
}

const unfit = ({ path }: TextFile, { way, list }: Place) =>
  new ConfigurationError(
    `${path} cannot be edited: expected ${way.join('.')} to be a ${list ? 'list' : 'map'} of servers.`,
  );

const withoutMark = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);

/** Tells whether anything changed that should not have. */
export function differs(before: Raw, after: Raw, place: Place, { add, drop }: Change): boolean {
  const [old, now] = [entriesAt(before, place), entriesAt(after, place)];
  if (add.some(([name, entry]) => JSON.stringify(now.get(name)) !== JSON.stringify(entry))) return true;
  const without = (entries: ReadonlyMap<string, unknown>, names: readonly string[]) =>
    JSON.stringify([...entries].filter(([name]) => !names.includes(name)));
  const added = add.map(([name]) => name);
  if (without(now, [...added, ...drop]) !== without(old, [...added, ...drop])) return true;
  if (drop.some((name) => now.has(name))) return true;
  return rest(before, place.way) !== rest(after, place.way);
}

/** Serialises the document without the container and its otherwise empty parents, with sorted keys. */
function rest(document: unknown, [key, ...way]: KeyPath): string {
  if (key === undefined || !isObject(document)) return '{}';
  const { [key]: inner, ...others } = document;
  const below = rest(inner, way);
  if (Object.keys(others).length === 0 && below === '{}') return below;
  return JSON.stringify([Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1)), below]);
}
