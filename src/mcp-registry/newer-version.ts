/**
 * Tells which of two entries of one server is the newer.
 * @module
 */
import type { RegistryEntry } from './registry-server.ts';

type Versioned = Pick<RegistryEntry, 'isLatest' | 'updatedAt'> & { readonly server: { readonly version: string } };

/** Tells whether an entry replaces a known one of the same name: what the registry says, then the version, then the date. */
export function isNewer(entry: Versioned, known: Versioned): boolean {
  if (entry.server.version === known.server.version) return true;
  if (entry.isLatest !== known.isLatest && (entry.isLatest === true || known.isLatest === true))
    return entry.isLatest === true;
  const order = compareVersions(entry.server.version, known.server.version);
  return order === 0 ? (entry.updatedAt ?? '') >= (known.updatedAt ?? '') : order > 0;
}

/** Orders versions as semantic versioning does; other texts part by part, numbers as numbers. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [partsOf(left), partsOf(right)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = comparePart(a[at], b[at]);
    if (order !== 0) return order;
  }
  return 0;
}

const partsOf = (version: string): string[] =>
  version
    .replace(/^v(?=\d)/, '')
    .replace(/\+.*$/s, '')
    .match(/\d+|[a-z]+/gi) ?? [];

const isNumber = (part: string): boolean => /^\d/.test(part);

/** A version with a word after its numbers (`1.0.0-beta`) comes before the one without. */
function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return b !== undefined && isNumber(b) ? -1 : 1;
  if (b === undefined) return isNumber(a) ? 1 : -1;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? 1 : -1;
  return a < b ? -1 : 1;
}

/** Numbers may be longer than a double holds. */
function compareNumbers(a: string, b: string): number {
  const [left, right] = [a, b].map((digits) => digits.replace(/^0+(?=\d)/, '')) as [string, string];
  if (left.length !== right.length) return left.length - right.length;
  return left === right ? 0 : left < right ? -1 : 1;
}
