/**
 * Counts the servers in an untrusted client file, so that the user is not asked about a file without servers. Parses
 * only within a budget; a file beyond it may hold servers.
 * @module
 */

import { formatOf, parseData } from '../../config/parse-data.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { isObject } from '../../json/plain-object.ts';
import type { Client } from './clients.ts';
import { entriesUnder } from './containers.ts';

/** Characters of JSON that one load may still parse. YAML and TOML parse more slowly and cost more. */
export interface ParseBudget {
  left: number;
}

const COST = { JSON: 1, TOML: 4, YAML: 16 } as const;

/** Charges the budget for parsing a text. Returns false and charges nothing if it does not suffice. */
export function pays(budget: ParseBudget, path: string, text: string): boolean {
  const cost = text.length * COST[formatOf(path)];
  if (cost > budget.left) return false;
  budget.left -= cost;
  return true;
}

/** Returns the number of entries; undefined when counting would exceed the budget or the file cannot be parsed. */
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
