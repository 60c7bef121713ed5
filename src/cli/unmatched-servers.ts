/**
 * Names `server:` filters of a query that match no server. Without this, the empty answer would look like a search
 * without results.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { matchesPattern, type QueryFilter } from '../search/query-filters.ts';
import { nearestNames } from '../text/nearest-names.ts';
import { oneLine } from '../text/plain-text.ts';

/** One message for each filter that matches no enabled server. */
export function unmatchedServers(
  filters: readonly QueryFilter[],
  servers: readonly { readonly name: string; readonly enabled: boolean }[],
): string[] {
  return filters
    .filter(({ key }) => key === 'server')
    .flatMap(({ value, pieces }) => {
      const fitting = servers.filter(({ name }) => matchesPattern(name.toLowerCase(), pieces));
      if (fitting.some(({ enabled }) => enabled)) return [];
      if (fitting.length > 0) return [`${namesOf(fitting)} is disabled.`];
      return [`No server is called "${oneLine(value, 100)}". ${hint(value, servers)}`];
    });
}

function hint(value: string, servers: readonly { readonly name: string; readonly enabled: boolean }[]): string {
  const usable = servers.filter(({ enabled }) => enabled);
  const near = nearestNames(
    value.replaceAll('*', ''),
    usable.map(({ name }) => name),
  );
  if (near.length > 0) return `Did you mean ${near.map((name) => `server:${filterWord(name)}`).join(' or ')}?`;
  return usable.length === 0 ? 'There are none.' : `There are ${namesOf(usable)}.`;
}

const filterWord = (name: string): string => (/\s/.test(name) ? `"${oneLine(name, 100)}"` : oneLine(name, 100));

const namesOf = (servers: readonly { readonly name: string }[]): string =>
  servers
    .slice(0, LIMITS.shown.some)
    .map(({ name }) => oneLine(name, 100))
    .join(', ') + (servers.length > LIMITS.shown.some ? ` and ${servers.length - LIMITS.shown.some} more` : '');
