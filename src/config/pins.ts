/**
 * Ties the files that entries of a project name (`envFile`, `${file:…}`) to the content they were trusted with: a reference
 * gets the hash that the file must still have when a connection opens and its value is used.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import { passesThrough } from './passes-through.ts';
import { expandHome } from './paths.ts';
import type { Snapshot } from './project-snapshot.ts';
import type { ServerEntry } from './server-schema.ts';
import type { World } from './world.ts';

/** What is reached through the project is pinned, wherever it lies; other files are the user's own, and change as they like. */
export interface Pins {
  /** An entry with its references pinned. */
  readonly pinned: (entry: ServerEntry) => ServerEntry;
  /** A text with its references pinned. */
  readonly pinnedText: (text: string) => string;
  /** The text of an `envFile`. One that was not shown is refused: nobody has seen which variables it sets. */
  readonly textOf: (path: string) => string;
}

/** No file has this hash: the reference is refused when it is used. */
const NONE = '0'.repeat(64);
const REFERENCE = /\$?\$\{(file|envFile):([^}]{1,8192})\}/g;

/**
 * Pins for the files of a project; without them everything stays as it is.
 * @param onRefused hears why a file will not be read
 */
export function pinsFor(files: Snapshot, root: string, world: World, onRefused?: (why: string) => void): Pins {
  const pinnedText = (text: string): string =>
    text.replace(REFERENCE, (whole, kind: string, inside: string) => {
      const path = expandHome(kind === 'file' ? inside : inside.slice(0, inside.lastIndexOf('#')), world);
      if (whole.startsWith('$$') || inside.startsWith('sha256-') || !passesThrough(path, root)) return whole;
      const hash = hashOf(files, path, onRefused);
      // What is shown stays as it was written.
      return files.isShowing ? whole : `\${${kind}:sha256-${hash}:${inside}}`;
    });
  const pinnedMap = (map: Readonly<Record<string, string>> | undefined) =>
    map && Object.fromEntries(Object.entries(map).map(([name, text]) => [name, pinnedText(text)]));
  return {
    textOf: (path) => files.text(path) ?? '',
    pinnedText,
    pinned: (entry) => {
      const { connection } = entry;
      if (connection === undefined) return entry;
      if (connection.type !== 'stdio') {
        const { url, headers } = connection;
        return { ...entry, connection: { ...connection, url: pinnedText(url), headers: pinnedMap(headers) } };
      }
      const { command, args, env, cwd } = connection;
      return {
        ...entry,
        connection: {
          ...connection,
          command: pinnedText(command),
          args: args?.map(pinnedText),
          env: pinnedMap(env),
          cwd: cwd === undefined ? undefined : pinnedText(cwd),
        },
      };
    },
  };
}

function hashOf(files: Snapshot, path: string, onRefused: (why: string) => void = () => {}): string {
  try {
    const hash = files.pin(path);
    if (hash === undefined)
      onRefused(`${path} was not found. Once it is there, trust this again: it is not read before.`);
    return hash ?? NONE;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    onRefused(error.message);
    return NONE;
  }
}
