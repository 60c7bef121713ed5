/**
 * How providers are dealt with: the limits as a program gave them in, all of them with their defaults out.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { DEFAULTS } from '../../core/limits.ts';
import type { ListLimits } from './check-list.ts';
import { checkNames, shown } from './check-options.ts';

/** How long providers are waited for, how much they may list, and whether arguments are checked for them. */
export interface ProviderLimits extends ListLimits {
  /** How long a list is fresh. Default 5 minutes. */
  readonly ttlMs: number;
  /**
   * How long a search waits for a list it has never seen, a call for a definition, and a call of a tool that no list has
   * for anybody to know it. Default 2 s; the asking for a list goes on behind it. `tools/list` waits less.
   */
  readonly waitMs: number;
  /** How long listing may take at all. Default 30 s. */
  readonly listMs: number;
  /** How long a call may take. Default 60 s. */
  readonly callMs: number;
  /** How many tools a provider of one request may list: each such provider is indexed by itself. Default 1,000. */
  readonly maxRequestTools: number;
  /** False: arguments go to providers as they were sent, without a look at the definition. Default true. */
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

/** Throws `ValidationError` for what is misspelt or no limit; undefined means the default. */
export function toProviderLimits(
  given: Readonly<Record<string, unknown>> | Partial<ProviderLimits> = {},
): ProviderLimits {
  const limits = new Map<string, unknown>(Object.entries(USUAL));
  checkNames(given, limits.keys(), 'providers.');
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const kind = typeof limits.get(name);
    // Infinity is a limit, too.
    if (typeof value !== kind || (typeof value === 'number' && !(value >= 0))) {
      const wanted = kind === 'number' ? 'a number that is not negative' : 'true or false';
      throw new ValidationError(`providers.${name} must be ${wanted}, not ${shown(value)}`);
    }
    limits.set(name, value);
  }
  return Object.fromEntries(limits) as unknown as ProviderLimits;
}
