/**
 * Tells an agent that a synced registry has servers for a request that no configured tool fits, and how a person adds
 * one. Sends nothing, adds nothing and starts nothing. Nothing is loaded unless a registry was synced.
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import type { SearchResult } from '../core/types.ts';
import type { McpRegistries } from '../mcp-registry/mcp-registries.ts';

/**
 * A best hit below this does not fit. Measured on three sets of requests (601): with the right server away 13 to 75 % of
 * the first hits are below it, with the right server there 4 to 23 %, and of those only a quarter to a half are right.
 */
const FITTING = 0.3;
/** A server of a registry that is named has at least this relevance: of tools, two of three such hits are right. */
const LIKELY = 0.6;

const opened = new WeakMap<ResolvedConfig, Promise<McpRegistries>>();

/** Tells whether a search found something that fits. */
export const isFitting = ([best]: readonly SearchResult[]): boolean => best !== undefined && best.relevance >= FITTING;

/** Returns the note; undefined if no registry was synced or none has a likely server. */
export async function registryNote(config: ResolvedConfig, query: string): Promise<string | undefined> {
  const folder = join(config.home, 'registry');
  // Without a cache an engine reads nothing of what was kept.
  if (!config.cache.enabled || !existsSync(folder)) return undefined;
  try {
    const registries = await (opened.get(config) ?? open(config, folder));
    if (!(await registries.isSynced())) return undefined;
    const { results } = await registries.search(query, { offline: true });
    // Only names, which have no other characters than those of a domain and a path: the other texts are a stranger's.
    const names = results
      .filter(
        ({ relevance, tags, name }) =>
          relevance >= LIKELY && !tags.includes('deprecated') && name.length <= LIMITS.answer.registryName,
      )
      .slice(0, LIMITS.answer.registryServers)
      .map(({ name }) => name);
    if (names.length === 0) return undefined;
    return `not configured, but in a registry: ${names.join(', ')}. A person can add one: anygpt mcp add ${names[0]}`;
  } catch {
    // A damaged copy is told where a person looks at it: by `anygpt mcp registry`.
    return undefined;
  }
}

function open(config: ResolvedConfig, folder: string): Promise<McpRegistries> {
  const opening = import('../mcp-registry/mcp-registries.ts').then(
    ({ McpRegistries }) => new McpRegistries({ registries: config.registries, folder }),
  );
  opened.set(config, opening);
  return opening;
}
