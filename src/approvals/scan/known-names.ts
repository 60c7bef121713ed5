/**
 * Knows the names of all tools: finds look-alikes of a name, and other servers' tools that a text mentions.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { ToolRef } from '../../core/types.ts';
import { editDistance } from '../../text/nearest-names.ts';
import { plainName } from '../../text/plain-text.ts';

/** Shorter names, and names without a separator or a capital inside, are ordinary words. */
const LEAST_MENTIONED = 6;
/** Letters in another order make another word in shorter names. */
const LEAST_SWAPPED = 8;

export class KnownNames {
  /** Names by how they look, and by their letters in order. */
  readonly #alike = new Map<string, Set<string>>();
  /** Servers by the name of a tool. */
  readonly #servers = new Map<string, Set<string>>();

  constructor(tools: Iterable<ToolRef>) {
    for (const { server, tool } of tools) {
      if (tool.length > LIMITS.names.tool) continue;
      if (!this.#servers.has(tool))
        for (const key of [looksOf(tool), lettersOf(tool)]) {
          const names = this.#alike.get(key) ?? new Set();
          this.#alike.set(key, names.add(tool));
        }
      this.#servers.set(tool, (this.#servers.get(tool) ?? new Set()).add(server));
    }
  }

  /**
   * Returns the known name that this one could be taken for: it looks the same but is written with other characters, or
   * has two letters swapped or one doubled. Other case and separators are usual and do not count.
   */
  lookAlike(name: string): string | undefined {
    const own = simple(name);
    for (const known of this.#alike.get(looksOf(name)) ?? []) if (simple(known) !== own) return known;
    if (own.length < LEAST_SWAPPED) return undefined;
    for (const known of this.#alike.get(lettersOf(name)) ?? [])
      if (simple(known) !== own && editDistance(simple(known), own, 2) === 1) return known;
    return undefined;
  }

  /** Returns the other servers that have this tool; undefined for ordinary words and for names of the server itself. */
  othersWith(name: string, server: string): ReadonlySet<string> | undefined {
    if (name.length < LEAST_MENTIONED || !/[_-]|[a-z][A-Z]/.test(name)) return undefined;
    const servers = this.#servers.get(name);
    return servers === undefined || servers.has(server) ? undefined : servers;
  }
}

/** Tells whether a name mixes Latin letters with look-alikes of other alphabets. */
export const mixesAlphabets = (name: string): boolean =>
  /[a-z]/i.test(name) && plainName(name) !== name.normalize('NFC') && /^[\x21-\x7e]*$/.test(plainName(name));

const simple = (name: string): string => name.toLowerCase().replace(/[-_. ]/g, '');

/** One text for all names that look the same. */
const looksOf = (name: string): string =>
  simple(
    plainName(name)
      .replaceAll('I', 'l')
      .toLowerCase()
      .replaceAll('0', 'o')
      .replaceAll('1', 'l')
      .replaceAll('5', 's')
      .replaceAll('rn', 'm')
      .replaceAll('vv', 'w')
      .replace(/([a-z])\1/g, '$1'),
  );

const lettersOf = (name: string): string => `\0${[...simple(plainName(name))].sort().join('')}`;
