/**
 * Tells whether a client's file is the user's, an administrator's, or from elsewhere, such as a project, which needs
 * trust. Copies that `install` keeps belong to their file.
 * @module
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { KEPT_ENDING } from '../../config/parse-data.ts';
import type { World } from '../../config/world.ts';
import type { Client } from './clients.ts';

/** Returns whether a file is the user's own or an administrator's; undefined for all others. */
export function ownScope(client: Client, path: string, world: World): 'user' | 'system' | undefined {
  const { user, former, system, install } = client;
  const created = install.create?.(world);
  const users = [
    ...user(world),
    ...(former?.(world) ?? []),
    ...(install.files?.(world) ?? []),
    ...(created === undefined ? [] : [created]),
  ];
  const file = path.replace(KEPT_ENDING, '');
  const isOne = (patterns: readonly string[]) => patterns.some((pattern) => fits(file, pattern, world));
  if (isOne(users)) return 'user';
  return isOne(system?.(world) ?? []) ? 'system' : undefined;
}

/**
 * Tells whether a path matches a pattern, as written or after following links in the user's own folders. Links in the
 * path are not followed: another user may redirect one between two checks. `*` matches one name.
 */
function fits(path: string, pattern: string, world: World): boolean {
  const [start = '', end] = pattern.split('*').map((part) => comparable(part, world));
  const known = comparable(path, world);
  if (end === undefined) return known === start || known === real(pattern, world);
  const name = known.slice(start.length, known.length - end.length);
  return known.startsWith(start) && known.endsWith(end) && name !== '' && !/[/\\]/.test(name);
}

const comparable = (path: string, { platform }: World): string => (platform === 'win32' ? path.toLowerCase() : path);

/** Follows links of the folder, not of the file: copies lie beside the file's name. */
function real(path: string, world: World): string {
  try {
    return comparable(join(realpathSync.native(dirname(path)), basename(path)), world);
  } catch {
    // A missing folder has no second path.
    return comparable(path, world);
  }
}
