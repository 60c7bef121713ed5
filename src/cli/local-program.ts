/**
 * Where this package's own server program is on this machine.
 * @module
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Beside the bundle this is in; from the compiled files and from the source it is in the folder of the bundle.
const PLACES = ['./discovery.js', '../bin/discovery.js', '../../dist/bin/discovery.js'];

/** The program and the Node.js that runs it, both in full; undefined where nothing was built. */
export function localProgram(): readonly [string, string] | undefined {
  const program = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) =>
    existsSync(path),
  );
  return program === undefined ? undefined : [process.execPath, program];
}
