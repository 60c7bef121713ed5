/**
 * A client's file as it is now and as it was before we came in, the file without us out. Where nobody else touched it,
 * that is what it was, to the byte; otherwise what others changed stays.
 * @module
 */
import { ConfigurationError } from '../../core/errors.ts';
import {
  differs,
  documentOf,
  entriesAt,
  type Place,
  type TextFile,
  withEntry,
  withoutContainer,
  withoutEntries,
} from './edit-text.ts';

/** What is known about our coming in. */
export interface Arrival {
  /** The file before we came in. */
  readonly original: string;
  /** The file as we left it. */
  readonly changed: string;
}

/**
 * The text without our entry, and with every server that was moved away.
 * @param ours the name of our entry, if it is there
 * @param moved names of the servers that were moved away
 */
export async function givenBack(
  file: TextFile,
  place: Place,
  ours: string | undefined,
  arrival: Arrival | undefined,
  moved: readonly string[],
): Promise<string> {
  if (arrival === undefined) return ours === undefined ? file.text : withoutEntries(file, place, [ours]);
  if (file.text === arrival.changed) return arrival.original;
  const before = await documentOf({ ...file, text: arrival.original });
  const old = entriesAt(before, place);
  const away = new Map(moved.filter((name) => old.has(name)).map((name) => [name, old.get(name)]));
  const undone = undo(file.text, arrival);
  if (undone !== undefined && (await isWhole(file, undone, place, ours, away))) return undone;
  let text = ours === undefined ? file.text : await withoutEntries(file, place, [ours]);
  for (const [name, entry] of [...away].toReversed()) {
    // What somebody wrote since then under the same name counts.
    const present = entriesAt(await documentOf({ ...file, text }), place).has(name);
    if (!present) text = await withEntry({ ...file, text }, place, name, entry);
  }
  return withoutContainer({ ...file, text }, place, before);
}

/** Puts back the part that we changed, if it still stands there, once, as we wrote it. */
function undo(text: string, { original, changed }: Arrival): string | undefined {
  const shorter = Math.min(original.length, changed.length);
  let head = 0;
  while (head < shorter && original[head] === changed[head]) head++;
  let tail = 0;
  while (tail < shorter - head && original.at(-1 - tail) === changed.at(-1 - tail)) tail++;
  const put = changed.slice(head, changed.length - tail);
  const at = text.indexOf(put);
  if (put === '' || at === -1 || text.indexOf(put, at + 1) !== -1) return undefined;
  return text.slice(0, at) + original.slice(head, original.length - tail) + text.slice(at + put.length);
}

/** Whether a text says what the file says, without us and with what was moved away. */
async function isWhole(
  file: TextFile,
  text: string,
  place: Place,
  ours: string | undefined,
  moved: ReadonlyMap<string, unknown>,
): Promise<boolean> {
  try {
    const now = await documentOf(file);
    if ([...moved.keys()].some((name) => entriesAt(now, place).has(name))) return false;
    const change = { add: [...moved], drop: ours === undefined ? [] : [ours] };
    return !differs(now, await documentOf({ ...file, text }), place, change);
  } catch (error) {
    // A text that cannot be read is no way back.
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}
