/**
 * Paths as people write them in, absolute paths out: `~`, `${NAME}` and relative ones.
 * @module
 */
import { isAbsolute, join, relative, resolve } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { isSecretName } from '../secrets/secret-names.ts';
import { expandReferences, referencesIn } from './references.ts';
import type { World } from './world.ts';

/** The absolute path for a written one; relative ones start at `base`. */
export function expandPath(written: string, base: string, world: World, where?: string): string {
  if (world.literal && written.includes('${')) {
    throw new ConfigurationError(`${where ?? 'A path'} is ${JSON.stringify(written)}, known only when it is used.`);
  }
  refuseSecrets(written, where);
  const path = expandHome(expandReferences(written, world.env, where), world);
  return resolve(base, path);
}

/** A path is shown wherever something is wrong with it, so it holds no secret and no content of a file. */
function refuseSecrets(written: string, where = 'A path'): void {
  const secret = referencesIn(written).find(({ name }) => isSecretName(name));
  const what = secret ? `\${${secret.name}}` : /\$\{(?:file|envFile):/.exec(written)?.[0].concat('…}');
  if (what !== undefined)
    throw new ConfigurationError(`${where} holds ${what}, which has no place in a path. Write the path itself.`);
}

/** Replaces a leading `~` by the home folder and leaves everything else as it is. */
export const expandHome = (path: string, world: World): string =>
  path === '~' || path.startsWith('~/') || path.startsWith('~\\') ? join(world.home, path.slice(1)) : path;

/** Whether a path lies in a folder, or is that folder. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith('../') && !way.startsWith('..\\'));
}
