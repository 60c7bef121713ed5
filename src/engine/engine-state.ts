/**
 * Builds everything that depends on the configuration as one value. A reload builds a new one and replaces the old.
 * @module
 */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ApprovalSource } from '../approvals/approval-store.ts';
import type { Approvals } from '../approvals/approvals.ts';
import { Catalog } from '../catalog/catalog.ts';
import { type ByteStore, CatalogStore } from '../catalog/catalog-store.ts';
import { Discovery, type DiscoveryOptions } from '../catalog/discovery.ts';
import type { IndexEntry } from '../catalog/index-file.ts';
import { noteRead } from '../config/heard-reads.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { fingerprint } from '../connections/fingerprint.ts';
import { ConfigurationError } from '../core/errors.ts';
import { gatewayId } from '../core/hops.ts';
import { LIMITS } from '../core/limits.ts';
import { isProvider, type ProviderDefinition, type SourceDefinition } from '../core/tool-provider.ts';
import { transportParts } from '../core/transport-parts.ts';
import type { Logger, ToolDefinition } from '../core/types.ts';
import { VERSION } from '../core/version.ts';
import type { RuleSet, ServerNames } from '../rules/decide.ts';
import { rulesOf } from '../rules/rules-of.ts';
import { ToolPolicy } from '../rules/tool-policy.ts';
import { type PhraseBook, parsePhraseBook } from '../search/phrase-book.ts';
import { SearchEngine } from '../search/search-engine.ts';
import type { SearchEngineOptions } from '../search/settings.ts';
import { shippedModel } from '../search/shipped.ts';
import { ownedServers, type ProfilePart, profileParts } from './profile-parts.ts';
import { sightLists, type Vet, vetDefinitions } from './sight-lists.ts';

export interface KnownServer {
  readonly definition: SourceDefinition;
  /** Identifies the connection or the provider that the list came from. */
  readonly fingerprint: string;
}

/** Sources and what they list. */
export interface KnownSources {
  /** Enabled servers by name, in the order of the configuration; then providers. */
  readonly servers: ReadonlyMap<string, KnownServer>;
  readonly catalog: Catalog;
  /** The program's own providers among `servers`. */
  readonly providers: readonly ProviderDefinition[];
}

export interface EngineState extends KnownSources {
  readonly config: ResolvedConfig;
  /** Identifies this gateway among others. */
  readonly id: string;
  readonly rules: RuleSet;
  /** Decides on every tool: the rules, then the approvals. */
  readonly policy: ToolPolicy;
  /** Undefined if every source is trusted. */
  readonly approvals: Approvals | undefined;
  /** Has the scanner look at definitions that a rule approves; undefined if every source is trusted. */
  readonly vet: Vet | undefined;
  /** Servers that are configured but disabled. */
  readonly switchedOff: ReadonlySet<string>;
  /** Why there are no servers at all, if discovery is disabled. */
  readonly offReason: string | undefined;
  readonly discovery: Discovery;
  readonly profiles: ReadonlyMap<string, ProfilePart>;
  /** Servers of which each user has its own connections and list. */
  readonly owned: ReadonlySet<string>;
  /** For whom the state was narrowed; undefined for the shared one and for sources of one request. */
  readonly sight?: Sight | undefined;
  /** Options of every index of this state. */
  readonly searchOptions: SearchEngineOptions;
  /** Asks a provider for a definition that its list left out. */
  describe(source: ProviderDefinition, listed: ToolDefinition): Promise<ToolDefinition>;
}

/** For whom a state was narrowed. */
export interface Sight {
  /** Undefined: everything that the configuration allows. */
  readonly profile: string | undefined;
  /** The user whose own servers these are. */
  readonly owner: string | undefined;
}

export interface StateWorld {
  readonly store: (config: ResolvedConfig) => Promise<ByteStore | undefined>;
  /** Opens the approvals of servers that need some. */
  readonly approvals?: ((sources: readonly ApprovalSource[], config: ResolvedConfig) => Promise<Approvals>) | undefined;
  readonly list: DiscoveryOptions['list'];
  readonly describe?: EngineState['describe'] | undefined;
  /** Names the program's own providers so that they differ from the servers. */
  readonly providersBeside?: (
    servers: readonly string[],
  ) => readonly (KnownServer & { definition: ProviderDefinition })[];
  readonly logger: Logger;
  /** Tells a person that the model file is missing, even without a log. */
  readonly warnOfModel?: (() => void) | undefined;
  readonly now: () => number;
  readonly elapsed: () => number;
  /** `sight`: for whom the state was narrowed whose list has changed. */
  readonly onChange: (server: string, sight?: Sight) => void;
  /** Whether servers may be contacted at all. */
  readonly connects: boolean;
  /** Whether stale lists are refreshed in the background. */
  readonly background: boolean;
  /** The state that this one replaces. What it learnt about unchanged servers is kept. */
  readonly before?: EngineState | undefined;
}

/** Builds the state for a configuration. Throws `ConfigurationError` for rules that cannot be used; touches no server. */
export async function buildState(config: ResolvedConfig, world: StateWorld): Promise<EngineState> {
  const servers = new Map<string, KnownServer>();
  if (config.enabled) {
    for (const definition of config.servers) {
      if (definition.enabled)
        servers.set(definition.name, { definition, fingerprint: fingerprint(definition.connection) });
    }
  }
  const provided = world.providersBeside?.(config.servers.map(({ name }) => name)) ?? [];
  for (const known of provided) servers.set(known.definition.name, known);
  const providers = provided.map(({ definition }) => definition);
  const rules = await rulesOf(config, renamed(providers), async () => {
    const { ruleClassifier } = await import('../service/infer/classify-tool.ts');
    return ruleClassifier(config.servers);
  });
  const sources = approvalSources(servers.values());
  const approvals = sources.length === 0 ? undefined : await world.approvals?.(sources, config);
  const policy = new ToolPolicy(rules, approvals);
  const phrases = await readPhrases(config);
  const bytes = await world.store(config);
  const { logger, now } = world;
  const id = gatewayId(config.origin, servers);
  // Engines without a file are told apart by their servers, so that one does not find another's index.
  const store =
    bytes && new CatalogStore(bytes, { owner: config.origin ?? id, stamp: stampOf(config, phrases), logger, now });
  // An index on disk would hold the providers' tools.
  const ready = provided.length === 0 ? await store?.readIndex() : undefined;
  const model = config.search.meaning && (shippedModel(!world.background) ?? false);
  if (config.search.meaning && !model && !world.before) world.warnOfModel?.();
  const searchOptions = { model, phrases };
  const restored = ready && [ready.snapshot, ready.items].map((one) => SearchEngine.fromSnapshot(one, searchOptions));
  const isWhole = restored?.every((one) => one !== undefined) === true;
  const [search, itemSearch] = isWhole ? restored : [];
  const indexed = new Map<string, IndexEntry>(isWhole ? ready?.entries.map((entry) => [entry.name, entry]) : []);
  const { tools: maxTools } = config.limits;
  const vet = approvals && vetDefinitions(policy, approvals, servers, () => catalog);
  const catalog: Catalog = new Catalog({
    servers,
    policy,
    sight: approvals && vet && sightLists(approvals, vet, servers, () => catalog),
    store,
    keepsIndex: provided.length === 0,
    search: search ?? new SearchEngine(searchOptions),
    itemSearch: itemSearch ?? new SearchEngine(searchOptions),
    indexed,
    maxTools,
  });
  if (world.before) await catalog.inherit(world.before.catalog);
  await catalog.adopt();
  const discovery = createDiscovery(config, world, { catalog, servers, failures: await catalog.keptFailures() });
  const switchedOff = new Set(config.servers.map(({ name }) => name).filter((name) => !servers.has(name)));
  const where = config.origin === undefined ? '' : ` in ${config.origin}`;
  const offReason = config.enabled ? undefined : `Discovery is switched off (enabled: false${where}).`;
  const describe = world.describe ?? (async (_source, listed) => listed);
  const profiles = await profileParts(config, rules);
  const known = { config, id, rules, policy, approvals, vet, servers, switchedOff, offReason, catalog, discovery };
  return { ...known, profiles, owned: ownedServers(servers), searchOptions, providers, describe };
}

/** What a narrowed state has instead of the sources and rules of its base. */
interface Narrowing<Rules extends RuleSet> {
  readonly servers: ReadonlyMap<string, KnownServer>;
  readonly rules: Rules;
  /** Undefined if all these sources are trusted. */
  readonly approvals: Approvals | undefined;
  /** Default: the rules, then the approvals. */
  readonly policy?: ToolPolicy | undefined;
  /** Keeps the lists; without one, they stay in memory. The index is never written. */
  readonly store?: CatalogStore | undefined;
  /** Takes part in the readings of this discovery, in place of own ones. */
  readonly lists?: Discovery | undefined;
  readonly sight?: Sight | undefined;
}

/**
 * Builds a state beside `base` with other sources and rules, and with a catalogue, index and discovery of its own.
 * Everything else is that of `base`.
 */
export function narrowState<Rules extends RuleSet>(
  base: EngineState,
  { servers, rules, approvals, store, policy = new ToolPolicy(rules, approvals), lists, sight }: Narrowing<Rules>,
  world: DiscoveryWorld,
): EngineState & { readonly rules: Rules } {
  const { config, searchOptions } = base;
  const [search, itemSearch] = [new SearchEngine(searchOptions), new SearchEngine(searchOptions)];
  const { tools: maxTools } = config.limits;
  const isOwned = sight?.owner !== undefined;
  const vet = isOwned ? approvals && vetDefinitions(policy, approvals, servers, () => catalog) : sight && base.vet;
  const catalog: Catalog = new Catalog({
    servers,
    policy,
    // The lists of one user are seen here only.
    sight: isOwned && approvals && vet ? sightLists(approvals, vet, servers, () => catalog) : undefined,
    // What is not for a profile does not exist in it.
    hides:
      sight?.profile === undefined ? undefined : (server, tool) => policy.decide(server, tool).code === 'TOOL_DISABLED',
    store,
    keepsIndex: false,
    search,
    itemSearch,
    indexed: new Map(),
    maxTools,
  });
  return {
    ...base,
    rules,
    policy,
    approvals,
    vet,
    servers,
    switchedOff: new Set(),
    sight,
    catalog,
    discovery: createDiscovery(config, world, { catalog, servers, lists }),
    providers: [...servers.values()].map(({ definition }) => definition).filter(isProvider),
  };
}

/** The servers whose definitions need approval. Approvals belong to the program or address, whatever it is given. */
const approvalSources = (servers: Iterable<KnownServer>): ApprovalSource[] =>
  [...servers].flatMap(({ definition }) => {
    if (isProvider(definition) || definition.approval === undefined) return [];
    const { name: server, approval: mode, connection, isProjects } = definition;
    return [{ server, identity: transportParts(connection.type).reached(connection), mode, isProjects }];
  });

/** The original names of renamed providers, so that rules match both names. */
export const renamed = (providers: readonly ProviderDefinition[]): ReadonlyMap<string, ServerNames> =>
  new Map(providers.filter(isRenamed).map(({ name, wantedName }) => [name, { others: [wantedName] }]));

const isRenamed = ({ name, wantedName }: ProviderDefinition): boolean => name !== wantedName;

/** How the lists of a state are read. */
export type DiscoveryWorld = Pick<StateWorld, 'list' | 'logger' | 'now' | 'elapsed' | 'connects' | 'background'> &
  Partial<Pick<StateWorld, 'onChange'>>;

function createDiscovery(
  config: ResolvedConfig,
  { list, logger, now, elapsed, connects, background, onChange }: DiscoveryWorld,
  known: Pick<DiscoveryOptions, 'catalog' | 'servers' | 'failures' | 'lists'>,
): Discovery {
  return new Discovery({
    ...known,
    remembers: connects,
    list,
    ttlMs: config.cache.ttl * 1000,
    parallel: LIMITS.atOnce.servers,
    logger,
    now,
    elapsed,
    retry: { ...config.retry, withinMs: config.limits.list },
    background,
    ...(onChange && { onChange }),
  });
}

/** The user's own phrases; undefined for those of the package. */
async function readPhrases({ search }: ResolvedConfig): Promise<PhraseBook | false | undefined> {
  if (typeof search.phrases === 'boolean') return search.phrases ? undefined : false;
  noteRead(search.phrases);
  const text = await readFile(search.phrases, 'utf8').catch((error: Error) => {
    throw new ConfigurationError(`search.phrases: ${search.phrases} cannot be read: ${error.message}`);
  });
  const book = parsePhraseBook(text);
  if (book !== undefined) return book;
  throw new ConfigurationError(
    `search.phrases: ${search.phrases} is not a phrase book. Expected: {"version": 1, "tools": {"server:tool": ["a phrase"]}}`,
  );
}

/** Identifies what a cached index depends on besides the lists themselves. */
function stampOf(config: ResolvedConfig, phrases: PhraseBook | false | undefined): string {
  const own = config.servers.filter(({ tools, description }) => tools.length > 0 || description !== undefined);
  const what = [
    config.toolRules,
    config.rulePrecedence,
    config.floorRules,
    config.servers.map(({ name, origin }) => [name, origin.name, origin.client, origin.sameAs]),
    // The shipped phrases change only with the package.
    phrases === undefined ? VERSION : phrases && [...phrases],
    own.map(({ name, description, tools }) => [name, description, tools]),
    config.servers.map(({ domains, categories, trusted }) => [domains, categories, trusted]),
  ];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 24);
}
