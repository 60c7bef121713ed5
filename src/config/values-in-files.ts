/**
 * Finds what references in the environment of servers stand for, where files that are shown with them say it.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { parseDotenv } from './dotenv.ts';
import { expandHome } from './paths.ts';
import type { Reading } from './project-files.ts';
import type { Snapshot } from './project-snapshot.ts';
import type { World } from './world.ts';

/** References to files, as entries have them. */
const FILE_REFERENCE = /(?<!\$)\$\{(file|envFile):([^}]{1,8192})\}/g;

/** Only files that were handed out are read: what is shown is what is hashed. */
export function valuesInFiles(
  readings: readonly Reading[],
  files: Snapshot,
  world: World,
): ReadonlyMap<string, string> {
  const { admitted } = files;
  const values = new Map<string, string>();
  for (const { connection } of readings.flatMap(({ servers }) => servers)) {
    const texts = connection.kind === 'stdio' ? Object.values(connection.env) : [];
    for (const [whole, kind, inside = ''] of texts.flatMap((text) => [...text.matchAll(FILE_REFERENCE)])) {
      const cut = kind === 'file' ? inside.length : inside.lastIndexOf('#');
      const path = expandHome(inside.slice(0, cut), world);
      if (values.has(whole) || !admitted.includes(path)) continue;
      const text = files.text(path) ?? '';
      const value = kind === 'file' ? text.trim() : parseDotenv(text).get(inside.slice(cut + 1));
      if (value !== undefined) values.set(whole, value.slice(0, LIMITS.text.long));
    }
  }
  return values;
}
