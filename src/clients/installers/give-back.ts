/**
 * Removes our entry from a client's file, given the file as it is now and as it was before. If nothing else changed,
 * the result is the original to the byte; otherwise other changes stay.
 * @module
 */

import { ConfigurationError } from '../../core/errors.ts';
import { sharedEnds } from '../../text/shared-ends.ts';
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

/** The file before and after our installation. */
export interface Arrival {
  /** The file before installation. */
  readonly original: string;
  /** The file as `install` left it. */
  readonly changed: string;
}

/**
 * Returns the text without our entry, and with every server that was moved away.
 * @param ours the name of our entry, if present
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
    // A newer entry of the same name counts.
    const present = entriesAt(await documentOf({ ...file, text }), place).has(name);
    if (!present) text = await withEntry({ ...file, text }, place, name, entry);
  }
  return withoutContainer({ ...file, text }, place, before);
}

/** Reverts the part that we changed, if it still occurs exactly once. */
function undo(text: string, { original, changed }: Arrival): string | undefined {
  const { head, tail } = sharedEnds(original, changed);
  const put = changed.slice(head, changed.length - tail);
  const at = text.indexOf(put);
  if (put === '' || at === -1 || text.indexOf(put, at + 1) !== -1) return undefined;
  return text.slice(0, at) + original.slice(head, original.length - tail) + text.slice(at + put.length);
}

/** Tells whether a text equals the file without our entry and with the moved servers. */
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
    // An unparsable text cannot be used.
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}
