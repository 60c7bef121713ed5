/**
 * Finds what trusting files of a project would change about the user's own servers, such as a server that another one of
 * the same name replaces. Runs no code of the project.
 * @module
 */
import { ConfigurationLoader } from '../config/configuration-loader.ts';
import type { FilePreview } from '../config/project-files.ts';
import type { World } from '../config/world.ts';
import { LIMITS } from '../core/limits.ts';

/** The warnings that the configuration would have with these files, and does not have without them. */
export async function trustEffects(files: readonly FilePreview[], world: World): Promise<readonly string[]> {
  const data = files.filter(({ hash, code }) => hash !== undefined && code.length === 0);
  if (data.length === 0) return [];
  const isTrusted = (path: string, hash: string) => data.some((file) => file.path === path && file.hash === hash);
  const warningsOf = (options: { isTrusted?: typeof isTrusted }) =>
    new ConfigurationLoader({ ...world, ...options }).load().then(
      ({ warnings }) => warnings,
      // Commands that use the configuration report its problems.
      () => [],
    );
  const known = new Set([...(await warningsOf({})), ...files.flatMap(({ notes }) => notes)]);
  return (await warningsOf({ isTrusted })).filter((warning) => !known.has(warning)).slice(0, LIMITS.shown.listed);
}
