/**
 * Pins the files that a project's entries name (`envFile`, `${file:…}`) to their trusted content. A reference gets the
 * hash that the file must still have when a connection opens and uses its value.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import { mapTexts } from '../core/transport-parts.ts';
import { passesThrough } from './passes-through.ts';
import { expandHome } from './paths.ts';
import type { Snapshot } from './project-snapshot.ts';
import type { ServerEntry } from './server-schema.ts';
import type { World } from './world.ts';

/** Pins files reached through the project, wherever they lie. Other files are the user's own and may change. */
export interface Pins {
  /** Returns an entry with its references pinned. */
  readonly pinned: (entry: ServerEntry) => ServerEntry;
  /** Returns a text with its references pinned. */
  readonly pinnedText: (text: string) => string;
  /**
   * Returns the text of an `envFile`. A file that was not in the preview is refused, because the user has not seen
   * which variables it sets.
   */
  readonly textOf: (path: string) => string;
}

/** No file has this hash, so the reference is refused when it is used. */
const NONE = '0'.repeat(64);
const REFERENCE = /\$?\$\{(file|envFile):([^}]{1,8192})\}/g;

/**
 * Creates the pins for the files of a project.
 * @param onRefused called with the reason when a file will not be read
 */
export function pinsFor(files: Snapshot, root: string, world: World, onRefused?: (why: string) => void): Pins {
  const pinnedText = (text: string): string =>
    text.replace(REFERENCE, (whole, kind: string, inside: string) => {
      const path = expandHome(kind === 'file' ? inside : inside.slice(0, inside.lastIndexOf('#')), world);
      if (whole.startsWith('$$') || inside.startsWith('sha256-') || !passesThrough(path, root)) return whole;
      const hash = hashOf(files, path, onRefused);
      // The preview shows references as written.
      return files.isShowing ? whole : `\${${kind}:sha256-${hash}:${inside}}`;
    });
  return {
    textOf: (path) => files.text(path) ?? '',
    pinnedText,
    pinned: (entry) =>
      entry.connection === undefined ? entry : { ...entry, connection: mapTexts(entry.connection, pinnedText) },
  };
}

function hashOf(files: Snapshot, path: string, onRefused: (why: string) => void = () => {}): string {
  try {
    const hash = files.pin(path);
    if (hash === undefined)
      onRefused(`${path} was not found, so it will not be read. Create it, then trust this file again.`);
    return hash ?? NONE;
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    onRefused(error.message);
    return NONE;
  }
}
