/**
 * Completes a program's limits for providers with the defaults.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { DEFAULTS } from '../../core/limits.ts';
import type { ListLimits } from './check-list.ts';
import { checkNames, shown } from './check-options.ts';

/** Timeouts and size limits of providers, and whether their arguments are checked. */
export interface ProviderLimits extends ListLimits {
  /** How long a list stays fresh. Default 5 minutes. */
  readonly ttlMs: number;
  /**
   * How long a search waits for a first list, how long a call waits for a definition, and how long an unlisted tool is
   * searched for. Default 2 s. Listing goes on in the background. `tools/list` waits less.
   */
  readonly waitMs: number;
  /** Timeout of listing. Default 30 s. */
  readonly listMs: number;
  /** Timeout of a call. Default 60 s. */
  readonly callMs: number;
  /** Maximum number of tools of one request's provider, which is indexed separately. Default 1,000. */
  readonly maxRequestTools: number;
  /** False: arguments are passed to providers unchecked. Default true. */
  readonly checkArguments: boolean;
}

const USUAL: ProviderLimits = {
  ttlMs: DEFAULTS.provider.ttlMs,
  waitMs: DEFAULTS.provider.waitMs,
  listMs: DEFAULTS.provider.listMs,
  callMs: DEFAULTS.provider.callMs,
  maxTools: DEFAULTS.limits.toolsPerServer,
  maxRequestTools: DEFAULTS.provider.requestTools,
  maxListBytes: DEFAULTS.provider.listBytes,
  maxToolBytes: DEFAULTS.limits.definition,
  checkArguments: true,
};

/** Throws `ValidationError` for an unknown or invalid limit. Undefined means the default. */
export function toProviderLimits(
  given: Readonly<Record<string, unknown>> | Partial<ProviderLimits> = {},
): ProviderLimits {
  const limits = new Map<string, unknown>(Object.entries(USUAL));
  checkNames(given, limits.keys(), 'providers.');
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const kind = typeof limits.get(name);
    // Infinity is a limit too.
    if (typeof value !== kind || (typeof value === 'number' && !(value >= 0))) {
      const wanted = kind === 'number' ? 'a number that is not negative' : 'true or false';
      throw new ValidationError(`providers.${name} must be ${wanted}, not ${shown(value)}`);
    }
    limits.set(name, value);
  }
  return Object.fromEntries(limits) as unknown as ProviderLimits;
}
