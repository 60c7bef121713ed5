/**
 * Reads clients' files for display, trusted or not. Must not be used for anything that runs.
 * @module
 */
import { pays } from '../clients/importers/count-entries.ts';
import type { ImportContext } from '../clients/importers/import-file.ts';
import { LIMITS } from '../core/limits.ts';
import { lookBudget, TooMuch } from './look-budget.ts';
import { pinsFor } from './pins.ts';
import { Snapshot } from './project-snapshot.ts';
import { readIfPresent } from './read-file.ts';
import type { World } from './world.ts';

/** Import context for display: needs no trust. Must not be used for anything that runs. */
export const importAnything = (world: World): Omit<ImportContext, 'base'> => {
  const files = new Snapshot();
  const budget = lookBudget();
  const peek = (path: string): string | undefined => {
    const text = files.peek(path);
    if (text !== undefined && !pays(budget, path, text)) throw new TooMuch(path);
    return text;
  };
  return {
    world,
    // The budget is charged in `peek` instead.
    budget: { left: Number.POSITIVE_INFINITY },
    maxServers: LIMITS.files.servers,
    read: async (path, isProjects = false) => (isProjects ? peek(path) : readIfPresent(path)),
    pinsOf: ({ scope, root }) =>
      scope === 'project' && root !== undefined
        ? pinsFor(new Snapshot({ folder: root }, files), root, world)
        : undefined,
    isTrusted: async () => true,
    isTrustedProject: async () => true,
  };
};
