/**
 * A client's document in, out: the servers that can run behind the gateway as well, the variables they refer to, and why
 * the others stay where they are.
 * @module
 */

import { type Client, type ClientType, clientOf } from '../importers/clients.ts';
import { fromClientDocument } from '../importers/import-client-document.ts';
import { namedFile } from '../importers/import-file.ts';
import type { ImportedEntry } from '../importers/imported-entry.ts';
import { toPathText } from '../problems.ts';
import { type Reference, referencesIn } from '../references.ts';
import type { World } from '../world.ts';
import { entriesAt, type Place } from './edit-text.ts';

/** What taking over a document means. */
export interface TakeOver {
  /** Names of the servers that move. */
  readonly names: readonly string[];
  /** One sentence for each that stays. */
  readonly staying: readonly string[];
  /** What the moving ones need from the client's environment. */
  readonly references: readonly Reference[];
}

const NOTHING: TakeOver = { names: [], staying: [], references: [] };

/** Looks through a document, or only at some names in it. Entries the gateway could not run as they are stay. */
export function takeOverOf(
  type: ClientType,
  document: Readonly<Record<string, unknown>>,
  place: Place,
  file: string,
  world: World,
  only?: readonly string[],
): TakeOver {
  const client: Client = clientOf(type);
  const imported = fromClientDocument(client, { ...namedFile(type, file, world), document, file }, world);
  if (typeof imported === 'string') return NOTHING;
  const present = entriesAt(document, place);
  const under = `${toPathText('', place.way)}[`;
  const found = imported.entries.filter(
    ({ entry, path }) => path.startsWith(under) && present.has(entry.name) && (only?.includes(entry.name) ?? true),
  );
  const reasons = new Map(found.map((one) => [one, whyItStays(one, imported.notes)]));
  const moving = found.filter((one) => reasons.get(one) === undefined);
  const names = [...new Set(moving.map(({ entry }) => entry.name))];
  return {
    names,
    staying: [
      ...found
        .filter((one) => reasons.get(one) !== undefined)
        .map((one) => `${one.entry.name} stays in the client: ${reasons.get(one)}`),
      ...imported.problems.map((problem) => `stays in the client: ${problem}`),
    ],
    references: uniqueReferences(moving),
  };
}

function whyItStays({ entry, path }: ImportedEntry, notes: readonly string[]): string | undefined {
  const note = notes.find((text) => text.startsWith(`${path}: `));
  if (note !== undefined) return note.slice(path.length + 2);
  if (entry.enabled === false) return 'it is switched off';
  const { connection } = entry;
  if (connection?.type !== 'stdio' && !/^(?:https?:|\$\{)/i.test(connection?.url ?? ''))
    return 'the gateway cannot reach its address';
  return undefined;
}

function uniqueReferences(moving: readonly ImportedEntry[]): readonly Reference[] {
  const found = new Map<string, Reference>();
  for (const { entry } of moving) {
    const { connection } = entry;
    const texts =
      connection?.type === 'stdio'
        ? [connection.command, ...(connection.args ?? []), ...Object.values(connection.env ?? {})]
        : [connection?.url ?? '', ...Object.values(connection?.headers ?? {})];
    const named = connection?.type === 'stdio' ? (connection.inheritEnv ?? []) : [];
    const references = [...texts.flatMap(referencesIn), ...named.map((name) => ({ name, fallback: undefined }))];
    for (const reference of references) if (!found.has(reference.name)) found.set(reference.name, reference);
  }
  // Every client hands these on anyway.
  for (const name of ['HOME', 'PATH', 'USER']) found.delete(name);
  return [...found.values()];
}
