/**
 * Looks up the values of file references in servers' environments, from the files that the preview shows.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isLocal } from '../core/transport-parts.ts';
import { parseDotenv } from './dotenv.ts';
import { expandHome } from './paths.ts';
import type { Reading } from './project-files.ts';
import type { Snapshot } from './project-snapshot.ts';
import type { World } from './world.ts';

/** References to files in entries. */
const FILE_REFERENCE = /(?<!\$)\$\{(file|envFile):([^}]{1,8192})\}/g;

/** Returns the values by reference. Reads only admitted files, so what is shown is also hashed. */
export function valuesInFiles(
  readings: readonly Reading[],
  files: Snapshot,
  world: World,
): ReadonlyMap<string, string> {
  const { admitted } = files;
  const values = new Map<string, string>();
  for (const { connection } of readings.flatMap(({ servers }) => servers)) {
    const texts = isLocal(connection) ? Object.values(connection.env) : [];
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
