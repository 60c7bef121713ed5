/**
 * Limits how much of untrusted files one command previews.
 * @module
 */

import type { ParseBudget } from '../clients/importers/count-entries.ts';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';

/** The preview budget of one command, in characters of JSON. More than this is too much to read, and slow to parse. */
export const lookBudget = (): ParseBudget => ({ left: LIMITS.files.looked });

/** The preview budget is used up. */
export class TooMuch extends ConfigurationError {
  constructor(path: string) {
    super(
      `${oneLine(path, 300)} was not previewed: there is too much to read at once. Name this file alone, or shorten it.`,
    );
  }
}
