/**
 * Selects the servers of a client's document that can run behind the gateway, the variables they refer to, and why the
 * others stay.
 * @module
 */

import { toPathText } from '../../config/problems.ts';
import { type Reference, referencesIn } from '../../config/references.ts';
import { howToWriteThem, quotedWords, relativeWords } from '../../config/relative-arguments.ts';
import type { World } from '../../config/world.ts';
import { isLocal, textsOf } from '../../core/transport-parts.ts';
import { type Client, type ClientType, clientOf } from '../importers/clients.ts';
import { fromClientDocument } from '../importers/import-client-document.ts';
import { namedFile } from '../importers/import-file.ts';
import type { ImportedEntry } from '../importers/imported-entry.ts';
import { ownScope } from '../importers/own-files.ts';
import { entriesAt, type Place } from './edit-text.ts';
import { hasLoginSettings, loginsOf } from './login-needed.ts';

/** The result of looking through a document. */
export interface TakeOver {
  /** Names of the servers that move. */
  readonly names: readonly string[];
  /** One sentence for each server that stays. */
  readonly staying: readonly string[];
  /** Variables that the moving servers need from the client's environment. */
  readonly references: readonly Reference[];
  /** Entries of the moving servers. */
  readonly moving: readonly ImportedEntry[];
}

/** Nothing moves. */
export const NO_TAKE_OVER: TakeOver = { names: [], staying: [], references: [], moving: [] };

/**
 * Looks through a document. An entry that the gateway could not run as written stays in the client.
 * @param only limits the search to these names
 * @param all includes entries with relative paths and logins, which an earlier version moved
 */
export function takeOverOf(
  type: ClientType,
  document: Readonly<Record<string, unknown>>,
  place: Place,
  file: string,
  world: World,
  { only, all = false }: { readonly only?: readonly string[] | undefined; readonly all?: boolean } = {},
): TakeOver {
  const client: Client = clientOf(type);
  const imported = fromClientDocument(client, { ...namedFile(type, file, world), document, file }, world);
  if (typeof imported === 'string') return NO_TAKE_OVER;
  const present = entriesAt(document, place);
  const under = `${toPathText('', place.way)}[`;
  const found = imported.entries.filter(
    ({ entry, path }) => path.startsWith(under) && present.has(entry.name) && (only?.includes(entry.name) ?? true),
  );
  // Behind the gateway, servers of the user's own files start in the home folder.
  const own = ownScope(client, file, world) !== undefined;
  const reasons = new Map(
    found.map((one) => [one, whyItStays(one, imported.notes, present.get(one.entry.name), own && !all, !all)]),
  );
  const moving = found.filter((one) => reasons.get(one) === undefined);
  return {
    ...ofMoving(moving),
    staying: [
      ...found
        .filter((one) => reasons.get(one) !== undefined)
        .map((one) => `${one.entry.name} stays in the client: ${reasons.get(one)}`),
      ...imported.problems.map((problem) => `stays in the client: ${problem}`),
    ],
  };
}

const ofMoving = (moving: readonly ImportedEntry[]) => ({
  names: [...new Set(moving.map(({ entry }) => entry.name))],
  references: uniqueReferences(moving),
  moving,
});

/** Excludes servers that only their client can log in to. Probes the remote ones. */
export async function withoutLogins(takeOver: TakeOver, world: World): Promise<TakeOver> {
  const logins = await loginsOf(takeOver.moving, world);
  const needed = takeOver.names.filter((name) => ['needed', 'elsewhere'].includes(logins.get(name) ?? ''));
  const silent = takeOver.names.filter((name) => logins.get(name) === 'unknown');
  return {
    ...ofMoving(takeOver.moving.filter(({ entry }) => !needed.includes(entry.name))),
    staying: [
      ...takeOver.staying,
      ...needed.map((name) =>
        logins.get(name) === 'needed'
          ? `${name} stays in the client: it asks for a login, which only the client can do`
          : `${name} stays in the client: it answers with a redirect, which the gateway does not follow`,
      ),
      ...silent.map(
        (name) => `${name} did not answer; if it needs a login, it must stay in the client (uninstall moves it back)`,
      ),
    ],
  };
}

function whyItStays(
  { entry, path }: ImportedEntry,
  notes: readonly string[],
  raw: unknown,
  startsAtHome: boolean,
  mayNeedLogin: boolean,
): string | undefined {
  const note = notes.find((text) => text.startsWith(`${path}: `));
  if (note !== undefined) return note.slice(path.length + 2);
  if (entry.enabled === false) return 'it is switched off';
  const { connection } = entry;
  if (connection === undefined || (!isLocal(connection) && !/^(?:https?:|\$\{)/i.test(connection.url)))
    return 'the gateway cannot reach its address';
  if (!isLocal(connection))
    return mayNeedLogin && hasLoginSettings(raw)
      ? 'its client logs in to it (OAuth), which the gateway cannot do'
      : undefined;
  const words =
    startsAtHome && connection.cwd === undefined ? relativeWords(connection.command, connection.args ?? []) : [];
  if (words.length > 0)
    return `behind the gateway it would start in your home folder, and it has ${quotedWords(words)}; ${howToWriteThem(words)}`;
  return undefined;
}

function uniqueReferences(moving: readonly ImportedEntry[]): readonly Reference[] {
  const found = new Map<string, Reference>();
  for (const { entry } of moving) {
    const { connection } = entry;
    if (connection === undefined) continue;
    const named = isLocal(connection) ? (connection.inheritEnv ?? []) : [];
    const references = [
      ...textsOf(connection).flatMap(referencesIn),
      ...named.map((name) => ({ name, fallback: undefined })),
    ];
    for (const reference of references) if (!found.has(reference.name)) found.set(reference.name, reference);
  }
  // Every client passes these on anyway.
  for (const name of ['HOME', 'PATH', 'USER']) found.delete(name);
  return [...found.values()];
}
