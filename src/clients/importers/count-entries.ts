/**
 * Counts the servers in a client's file that nobody has trusted, so that one without servers need not be asked about. Only
 * a little is parsed for this; what goes beyond may hold servers.
 * @module
 */

import { formatOf, parseData } from '../../config/parse-data.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { isObject } from '../../json/plain-object.ts';
import type { Client } from './clients.ts';
import { entriesUnder } from './containers.ts';

/** Characters of JSON that may still be parsed in one load; YAML and TOML take longer and cost more. */
export interface ParseBudget {
  left: number;
}

const COST = { JSON: 1, TOML: 4, YAML: 16 } as const;

/** Pays for parsing a text; false, and nothing is paid, when that would be too much. */
export function pays(budget: ParseBudget, path: string, text: string): boolean {
  const cost = text.length * COST[formatOf(path)];
  if (cost > budget.left) return false;
  budget.left -= cost;
  return true;
}

/** How many entries there are; undefined when that would take too long, or the file cannot be understood. */
export async function countEntries(
  client: Client,
  path: string,
  text: string,
  {
    world,
    budget = { left: LIMITS.files.untrusted },
  }: { readonly world: World; readonly budget?: ParseBudget | undefined },
): Promise<number | undefined> {
  if (!pays(budget, path, text)) return undefined;
  try {
    const document = await parseData(path, text, () => undefined);
    if (!isObject(document)) return undefined;
    const found = (client.find ?? entriesUnder)(document, { world, file: path, keys: client.keys });
    return typeof found === 'string' ? undefined : found.length;
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}
