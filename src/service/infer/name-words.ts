/**
 * Splits names of servers and tools into words, and forms singular and plural.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { plainName } from '../../text/plain-text.ts';

/** `getPullRequest`, `get-pull-request` and `GET_PULL_REQUEST` are `get`, `pull`, `request`. */
export function nameWords(name: string): string[] {
  return plainName(name.slice(0, LIMITS.convert.readName))
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Words that are the same for one and for many, or have no number at all. */
const UNCHANGED: ReadonlySet<string> = new Set(
  'analytics auth children content data dns feedback gas help history info knowledge media metadata news people series software status storage text weather web work'.split(
    ' ',
  ),
);

/** Returns the plural of an English noun: `query` becomes `queries`. A plural stays. */
export function plural(noun: string): string {
  if (UNCHANGED.has(noun) || !/[a-z]$/.test(noun)) return noun;
  if (/[^aeious]s$/.test(noun) || /(?:es|[aeo]s|sis)$/.test(noun)) return noun;
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}
