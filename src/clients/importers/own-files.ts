/**
 * A client's file in, whose it is out: one that lies where the client keeps the user's or an administrator's, or one from
 * anywhere else, such as a project, which needs a person's trust. Copies that `install` keeps belong to their file.
 * @module
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { KEPT_ENDING } from '../../config/parse-data.ts';
import type { World } from '../../config/world.ts';
import type { Client } from './clients.ts';

/** Whether a file is the user's own or an administrator's; undefined for all others. */
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
 * Whether a path is what a pattern says, as it is written or with the links in the user's own folders followed. Links on the
 * way of the path are not: somebody else may turn one round between two looks. `*` stands for one name.
 */
function fits(path: string, pattern: string, world: World): boolean {
  const [start = '', end] = pattern.split('*').map((part) => comparable(part, world));
  const known = comparable(path, world);
  if (end === undefined) return known === start || known === real(pattern, world);
  const name = known.slice(start.length, known.length - end.length);
  return known.startsWith(start) && known.endsWith(end) && name !== '' && !/[/\\]/.test(name);
}

const comparable = (path: string, { platform }: World): string => (platform === 'win32' ? path.toLowerCase() : path);

/** With the folder behind links. The file itself is not followed: copies of it lie where its name is. */
function real(path: string, world: World): string {
  try {
    return comparable(join(realpathSync.native(dirname(path)), basename(path)), world);
  } catch {
    // A folder that is not there is not reached in two ways.
    return comparable(path, world);
  }
}
