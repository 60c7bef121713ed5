/**
 * Selects the servers of a client's document that can run behind the gateway, the variables they refer to, and why the
 * others stay.
 * @module
 */

import { toPathText } from '../../config/problems.ts';
import { type Reference, referencesIn } from '../../config/references.ts';
import { howToWriteThem, quotedWords, relativeWords } from '../../config/relative-arguments.ts';
import type { World } from '../../config/world.ts';
import { hasOwnToken, isLocal, textsOf } from '../../core/transport-parts.ts';
import { shellWord } from '../../text/shell-word.ts';
import { type Client, type ClientType, clientOf } from '../importers/clients.ts';
import { fromClientDocument } from '../importers/import-client-document.ts';
import { namedFile } from '../importers/import-file.ts';
import type { ImportedEntry } from '../importers/imported-entry.ts';
import { ownScope } from '../importers/own-files.ts';
import { entriesAt, type Place } from './edit-text.ts';
import { isClientsLogin, type Login, loginsOf } from './login-needed.ts';

/** The result of looking through a document. */
export interface TakeOver {
  /** Names of the servers that move. */
  readonly names: readonly string[];
  /** One sentence for each server that stays, or that a person has to do something for. */
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

/** Probes the remote servers: excludes those that the gateway could not use, and says which ones need a login. */
export async function withLogins(takeOver: TakeOver, world: World): Promise<TakeOver> {
  const logins = await loginsOf(takeOver.moving, world);
  const reasons = new Map(
    takeOver.moving.flatMap(({ entry: { name, connection } }) => {
      const hasToken = connection !== undefined && !isLocal(connection) && hasOwnToken(connection);
      if (logins.get(name) === 'elsewhere')
        return [[name, 'it answers with a redirect, which the gateway does not follow']];
      return logins.get(name) === 'needed' && hasToken ? [[name, 'it does not accept the token of its entry']] : [];
    }),
  );
  const moving = takeOver.moving.filter(({ entry }) => !reasons.has(entry.name));
  const having = (login: Login) => ofMoving(moving).names.filter((name) => logins.get(name) === login);
  return {
    ...ofMoving(moving),
    staying: [
      ...takeOver.staying,
      ...[...reasons].map(([name, reason]) => `${name} stays in the client: ${reason}`),
      ...having('needed').map((name) => `${name} needs a login: anygpt mcp login ${shellWord(name)}`),
      ...having('unknown').map(
        (name) => `${name} did not answer; if it needs a login: anygpt mcp login ${shellWord(name)}`,
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
    return mayNeedLogin && isClientsLogin(raw)
      ? 'its client logs in to it with an account of its own, which the gateway cannot do'
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
