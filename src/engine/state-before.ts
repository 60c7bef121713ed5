/**
 * Shows the sources of an engine while its configuration loads: all their names, and the tools of providers.
 * @module
 */
import { Catalog } from '../catalog/catalog.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import { isObject } from '../json/plain-object.ts';
import { rulesWith } from '../rules/rules-of.ts';
import { ToolPolicy } from '../rules/tool-policy.ts';
import { SearchEngine } from '../search/search-engine.ts';
import { type KnownServer, type KnownSources, renamed } from './engine-state.ts';
import { type EngineConfig, isConfigFile, isResolved } from './engine-world.ts';
import { nameProviders, OWN, providerFingerprint } from './provider-sources.ts';

const NOTHING_YET = { enabled: false, tags: [], reason: '' };

/** The sources that a configuration names, as far as it is known without reading a file. Throws nothing. */
export function stateBefore(given: EngineConfig, providers: readonly ToolProvider[]): KnownSources {
  const written: Readonly<Record<string, unknown>> = isObject(given) && !isConfigFile(given) ? given : {};
  const config = isObject(written.discovery) ? written.discovery : written;
  const listed: readonly unknown[] = Array.isArray(config.servers) ? config.servers : [];
  const names = listed.flatMap((one) =>
    isObject(one) && typeof one.name === 'string' && one.enabled !== false ? [one.name] : [],
  );
  const own = nameProviders(providers, new Set(names), OWN);
  const servers = new Map<string, KnownServer>();
  for (const name of names) servers.set(name, { definition: { name, tools: [] } as never, fingerprint: '' });
  for (const definition of own)
    servers.set(definition.name, { definition, fingerprint: providerFingerprint(definition.provider) });
  // Rules of other files are not known yet. Until they are, no tool is shown.
  const isAlone = isResolved(config) || !(isConfigFile(given) || config.extends || config.sources);
  const rules = isAlone ? rulesIn(config, own) : undefined;
  const catalog = new Catalog({
    servers,
    policy: rules ? new ToolPolicy(rules) : { decide: () => NOTHING_YET, decideItem: () => NOTHING_YET },
    store: undefined,
    search: new SearchEngine({ model: false }),
    indexed: new Map(),
  });
  return { servers, catalog, providers: own };
}

/** Undefined if the rules are invalid, or need the regular expression engine, which is not loaded yet. */
function rulesIn(config: object, own: KnownSources['providers']) {
  const { servers, toolRules = [], rulePrecedence = 'first-match', floorRules } = config as Partial<ResolvedConfig>;
  const named = isResolved(config) ? (servers ?? []) : [];
  try {
    return rulesWith(undefined, { servers: named, toolRules, rulePrecedence, floorRules }, renamed(own));
  } catch {
    return undefined;
  }
}
