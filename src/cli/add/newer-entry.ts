/**
 * Tells which texts of an entry change when its server is updated to a newer version. Only what pins the version changes;
 * answers, secrets and everything a person has written stay. Pure.
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { TextChange } from '../../clients/installers/own-servers.ts';
import { isObject } from '../../json/plain-object.ts';
import { type ConnectionWay, type WaysOptions, waysOf } from '../../mcp-registry/connection-ways.ts';
import type { RegistryServer } from '../../mcp-registry/registry-server.ts';

/** What an update would change, or why it cannot be done in place. */
export type EntryUpdate =
  | { readonly changes: readonly TextChange[]; readonly warnings: readonly string[] }
  | { readonly problem: string };

type Entry = Readonly<Record<string, unknown>>;

/** The texts of a command line, with the keys that lead to them. */
function wordsIn(entry: Entry): { readonly way: TextChange['way']; readonly word: string }[] {
  const { args } = isObject(entry.connection) ? entry.connection : {};
  return (Array.isArray(args) ? args : []).flatMap((word, at) =>
    typeof word === 'string' ? [{ way: ['connection', 'args', at], word }] : [],
  );
}

/** Updates a package of npm that npx starts. */
export function newerPackage(entry: Entry, from: string, to: string): EntryUpdate {
  const places = wordsIn(entry).filter(({ word }) => word === from);
  const [place] = places;
  if (place === undefined || places.length > 1) return { problem: `its entry does not name ${from} once` };
  return { changes: [{ way: place.way, from, to }], warnings: [] };
}

/** A package without its version or digest. */
const nameOf = (word: string): string =>
  word.replace(/(?:==[^=]+|@sha256:[0-9a-f]{64}|@[^@/]+|:[^/:@]+)$/, '').replace(/:[^/:@]+$/, '');

/** What a way asks for and runs, without the version. */
const shapeOf = ({ kind, transport, url, headers, variables, environment, words }: ConnectionWay): unknown =>
  [kind, transport, url, headers, variables, environment].concat(
    words.map((word) => (typeof word === 'string' ? nameOf(word) : word)) as never,
  );

/** Updates a server of a registry. `before` is the version of the entry, where the registry still has it. */
export function newerServer(
  entry: Entry,
  label: string,
  before: RegistryServer | undefined,
  server: RegistryServer,
  options: WaysOptions,
): EntryUpdate {
  const ways = waysOf(server, options).filter(({ problem, bundle }) => problem === undefined && bundle === undefined);
  const { url } = isObject(entry.connection) ? entry.connection : {};
  const labelled: TextChange = { way: ['registry'], from: label, to: `${server.name}@${server.version}` };
  const old = before === undefined ? [] : waysOf(before, options);
  if (url !== undefined) {
    const kept = ways.find(
      (way) => way.kind === 'remote' && old.some((one) => isDeepStrictEqual(shapeOf(one), shapeOf(way))),
    );
    return kept === undefined
      ? { problem: 'its address or what it asks for may have changed' }
      : { changes: [labelled], warnings: kept.warnings };
  }
  for (const way of ways) {
    for (const pinned of way.words) {
      const place = wordsIn(entry).find(
        ({ word }) => typeof pinned === 'string' && isPinned(pinned) && nameOf(word) === nameOf(pinned),
      );
      if (place === undefined || typeof pinned !== 'string') continue;
      const isSame = old.some((one) => isDeepStrictEqual(shapeOf(one), shapeOf(way)));
      const moved = place.word === pinned ? [] : [{ way: place.way, from: place.word, to: pinned }];
      const differs = 'the new version may ask for other arguments or variables than the one you added';
      return { changes: [...moved, labelled], warnings: [...way.warnings, ...(isSame ? [] : [differs])] };
    }
  }
  return { problem: 'its command line has no package that the new version names' };
}

const isPinned = (word: string): boolean => nameOf(word) !== word;
