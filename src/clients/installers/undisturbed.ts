/**
 * A plan's work in, the work done while no other process works on the same files out: what is moved away must not be
 * taken for gone by another.
 * @module
 */
import { ConfigurationError } from '../../core/errors.ts';
import { withLock } from '../../disk/file-lock.ts';
import { documentOf, entriesAt } from './edit-text.ts';
import { readFound, refuseChanged } from './files.ts';
import type { Installed } from './installed.ts';
import type { OwnChange } from './own-configuration.ts';

/** Does the work, unless a file is no longer what the plan was made for. */
export function undisturbed(
  { found, kept }: Pick<Installed, 'found' | 'kept'>,
  own: OwnChange | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const checked = async () => {
    await refuseChanged(found);
    if (kept !== undefined) await refuseChanged({ ...kept, target: kept.path });
    await own?.refuseChanged();
    await work();
  };
  return withLock(found.target, () => (own === undefined ? checked() : withLock(own.path, checked)));
}

/** Whether every one of these servers is in the client's file, as it is now. */
export async function isStillThere(
  { found: { path }, place, policy }: Pick<Installed, 'found' | 'place' | 'policy'>,
  names: readonly string[],
): Promise<boolean> {
  try {
    const now = entriesAt(await documentOf({ path, text: (await readFound(path, policy)).text ?? '' }), place);
    return names.every((name) => now.has(name));
  } catch (error) {
    // In doubt nothing is taken away.
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}
