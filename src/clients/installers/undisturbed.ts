/**
 * Carries out a plan under locks on its files, so that another process does not mistake moved servers for deleted ones.
 * @module
 */
import { ConfigurationError } from '../../core/errors.ts';
import { withLock } from '../../disk/file-lock.ts';
import { documentOf, entriesAt } from './edit-text.ts';
import { readFound, refuseChanged } from './files.ts';
import type { Installed } from './installed.ts';
import type { OwnChange } from './own-configuration.ts';

/** Runs the work, unless a file changed since the plan was made. */
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
  return withLock(found.target, () => (own === undefined ? checked() : withLock(own.target, checked)));
}

/** Tells whether all of these servers are in the client's file now. */
export async function isStillThere(
  { found: { path }, place, policy }: Pick<Installed, 'found' | 'place' | 'policy'>,
  names: readonly string[],
): Promise<boolean> {
  try {
    const now = entriesAt(await documentOf({ path, text: (await readFound(path, policy)).text ?? '' }), place);
    return names.every((name) => now.has(name));
  } catch (error) {
    // If unknown, assume that they are not, so that nothing is deleted.
    if (error instanceof ConfigurationError) return false;
    throw error;
  }
}
