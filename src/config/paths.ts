/**
 * Expands paths as people write them (`~`, `${NAME}`, relative) into absolute paths.
 * @module
 */
import { isAbsolute, join, relative, resolve } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { isSecretName } from '../secrets/secret-names.ts';
import { expandReferences, referencesIn } from './references.ts';
import type { World } from './world.ts';

/** Returns the absolute path. A relative path starts at `base`. */
export function expandPath(written: string, base: string, world: World, where?: string): string {
  if (world.literal && written.includes('${')) {
    throw new ConfigurationError(
      `${where ?? 'A path'} is ${JSON.stringify(written)}, which is only expanded when it is used.`,
    );
  }
  refuseSecrets(written, where);
  const path = expandHome(expandReferences(written, world.env, where), world);
  return resolve(base, path);
}

/** Error messages show paths, so a path must not hold a secret or the content of a file. */
function refuseSecrets(written: string, where = 'A path'): void {
  const secret = referencesIn(written).find(({ name }) => isSecretName(name));
  const what = secret ? `\${${secret.name}}` : /\$\{(?:file|envFile):/.exec(written)?.[0].concat('…}');
  if (what !== undefined)
    throw new ConfigurationError(`${where} contains ${what}, which is not allowed in a path. Write the path itself.`);
}

/** Replaces a leading `~` by the home folder. */
export const expandHome = (path: string, world: World): string =>
  path === '~' || path.startsWith('~/') || path.startsWith('~\\') ? join(world.home, path.slice(1)) : path;

/** Tells whether a path is a folder or lies inside it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith('../') && !way.startsWith('..\\'));
}
