/**
 * Selects the servers that `anygpt mcp install --take-over` moved behind the gateway: those in its copy that the
 * client's own file no longer has.
 * @module
 */

import type { Policy } from '../../config/json-excerpt.ts';
import { parseData, TAKEN_OVER } from '../../config/parse-data.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { readClientText, withoutMark } from './client-text.ts';
import type { Client } from './clients.ts';
import { type ClientDocument, fromClientDocument } from './import-client-document.ts';
import type { Imported } from './imported-entry.ts';

/** Leaves out what the client still starts itself. Files other than copies are returned unchanged. */
export async function onlyMoved(
  imported: Imported | string,
  client: Client,
  about: ClientDocument,
  world: World,
): Promise<Imported | string> {
  if (typeof imported === 'string' || !about.file.endsWith(TAKEN_OVER)) return imported;
  const file = about.file.slice(0, -TAKEN_OVER.length);
  const present = fromClientDocument(
    client,
    { ...about, file, document: await readQuietly(file, client.excerpt?.(world)) },
    world,
  );
  if (typeof present === 'string') return imported;
  const names = new Set(present.entries.map(({ entry }) => entry.name));
  const staying = imported.entries.filter(({ entry }) => names.has(entry.name));
  return {
    ...imported,
    entries: imported.entries.filter((entry) => !staying.includes(entry)),
    // The client reports these itself.
    problems: [],
    notes: imported.notes.filter((note) => !staying.some(({ path }) => note.startsWith(`${path}: `))),
  };
}

/** Reads the client's file; an unreadable file counts as empty. Importing that file reports the error. */
async function readQuietly(file: string, policy: Policy | undefined): Promise<unknown> {
  try {
    const text = withoutMark((await readClientText(file, policy))?.text ?? '');
    return text.trim() === '' ? {} : await parseData(file, text, () => undefined);
  } catch (error) {
    if (error instanceof ConfigurationError) return {};
    throw error;
  }
}
