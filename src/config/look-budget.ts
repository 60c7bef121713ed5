/**
 * Bounds what one command looks at of files that nobody trusts.
 * @module
 */

import type { ParseBudget } from '../clients/importers/count-entries.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';

/** What is looked at in one command, in characters of JSON: people read it, and nobody waits longer for a stranger's files. */
export const lookBudget = (): ParseBudget => ({ left: LIMITS.files.looked });

/** More than one command looks at. */
export class TooMuch extends ConfigurationError {
  constructor(path: string) {
    super(
      `${oneLine(path, 300)} is not looked at: there is too much to read. Name it alone, or make it shorter, to have it looked at.`,
    );
  }
}
