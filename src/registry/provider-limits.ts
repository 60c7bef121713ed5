/**
 * How providers are dealt with: the limits as a program gave them in, all of them with their defaults out.
 * @module
 */
import { ValidationError } from '../errors.ts';
import { nearestName } from '../nearest-names.ts';
import type { ListLimits } from './provided-tools.ts';

/** How long providers are waited for, how much they may list, and whether arguments are checked for them. */
export interface ProviderLimits extends ListLimits {
  /** How long a list is fresh. Default 5 minutes. */
  readonly ttlMs: number;
  /** How long a search waits for a list it has never seen, and a call for a definition. Default 2 s; the asking for a list goes on behind it. */
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

const DEFAULTS: ProviderLimits = {
  ttlMs: 300_000,
  waitMs: 2_000,
  listMs: 30_000,
  callMs: 60_000,
  maxTools: 10_000,
  maxRequestTools: 1_000,
  maxListBytes: 16 * 1024 * 1024,
  maxToolBytes: 256 * 1024,
  checkArguments: true,
};

/** Throws `ValidationError` for what is misspelt or no limit; undefined means the default. */
export function toProviderLimits(
  given: Readonly<Record<string, unknown>> | Partial<ProviderLimits> = {},
): ProviderLimits {
  const limits = new Map<string, unknown>(Object.entries(DEFAULTS));
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

/** Throws `ValidationError` for options that do not exist: misspelt, they would be noticed much later or never. */
export function checkNames(given: object, known: Iterable<string>, where = ''): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ValidationError(`${where === '' ? 'The options' : where.slice(0, -1)} must be an object`);
  }
  const names = [...known];
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? `there are ${names.join(', ')}` : `did you mean ${where}${nearest}?`;
    throw new ValidationError(`There is no option ${where}${name}; ${hint}`);
  }
}

const shown = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));
