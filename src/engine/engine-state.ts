/**
 * Everything that depends on the configuration, built as one value: a reload builds a new one and swaps it in.
 * @module
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Catalog } from '../catalog/catalog.ts';
import { type ByteStore, CatalogStore } from '../catalog/catalog-store.ts';
import { Discovery } from '../catalog/discovery.ts';
import type { IndexEntry } from '../catalog/index-file.ts';
import type { Listing } from '../catalog/listing.ts';
import { noteRead } from '../config/heard-reads.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { fingerprint } from '../connections/fingerprint.ts';
import { ConfigurationError } from '../core/errors.ts';
import { gatewayId } from '../core/hops.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller, Logger, ServerDefinition } from '../core/types.ts';
import { VERSION } from '../core/version.ts';
import type { RuleSet } from '../rules/decide.ts';
import { rulesOf } from '../rules/rules-of.ts';
import { type PhraseBook, parsePhraseBook } from '../search/phrase-book.ts';
import { SearchEngine } from '../search/search-engine.ts';
import { shippedModel } from '../search/shipped.ts';

export interface KnownServer {
  readonly definition: ServerDefinition;
  /** Of the connection: whose list this is. */
  readonly fingerprint: string;
}

export interface EngineState {
  readonly config: ResolvedConfig;
  /** Names this gateway among others. */
  readonly id: string;
  readonly rules: RuleSet;
  /** Servers that are switched on, by name, in the order of the configuration. */
  readonly servers: ReadonlyMap<string, KnownServer>;
  /** Servers that are configured and switched off. */
  readonly switchedOff: ReadonlySet<string>;
  /** Why there are no servers at all, when everything is switched off. */
  readonly offReason: string | undefined;
  readonly catalog: Catalog;
  readonly discovery: Discovery;
}

export interface StateWorld {
  readonly store: (config: ResolvedConfig) => Promise<ByteStore | undefined>;
  readonly list: (definition: ServerDefinition, caller: Caller | undefined) => Promise<Listing>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly onChange: (server: string) => void;
  /** Whether servers are asked at all. */
  readonly connects: boolean;
  /** Whether old lists are refreshed behind an answer. */
  readonly background: boolean;
  /** The state that this one replaces; what it has learnt of unchanged servers is kept. */
  readonly before?: EngineState | undefined;
}

/** Builds the state for a configuration. Throws `ConfigurationError` for rules that cannot be used; touches no server. */
export async function buildState(config: ResolvedConfig, world: StateWorld): Promise<EngineState> {
  const rules = await rulesOf(config);
  const servers = new Map<string, KnownServer>();
  if (config.enabled) {
    for (const definition of config.servers) {
      if (definition.enabled)
        servers.set(definition.name, { definition, fingerprint: fingerprint(definition.connection) });
    }
  }
  const phrases = await readPhrases(config);
  const bytes = await world.store(config);
  const { logger, now, elapsed } = world;
  const id = gatewayId(config.origin, servers);
  // Engines without a file are told apart by their servers: one must not find another's index.
  const store =
    bytes && new CatalogStore(bytes, { owner: config.origin ?? id, stamp: stampOf(config, phrases), logger, now });
  const ready = await store?.readIndex();
  const model = config.search.meaning && (shippedModel(!world.background) ?? false);
  if (config.search.meaning && !model && !world.before)
    logger.warn(
      { code: 'STORAGE_ERROR' },
      'models/meaning.bin is missing or damaged: tools are found by words, not by meaning. Install the package again.',
    );
  const options = { model, phrases };
  const search = ready && SearchEngine.fromSnapshot(ready.snapshot, options);
  const indexed = new Map<string, IndexEntry>(search && ready.entries.map((entry) => [entry.name, entry]));
  const { tools: maxTools } = config.limits;
  const catalog = new Catalog({
    servers,
    rules,
    store,
    search: search ?? new SearchEngine(options),
    indexed,
    maxTools,
  });
  if (world.before) await catalog.inherit(world.before.catalog);
  await catalog.adopt();
  const discovery = new Discovery({
    failures: await catalog.keptFailures(),
    remembers: world.connects,
    catalog,
    servers,
    list: world.list,
    ttlMs: config.cache.ttl * 1000,
    parallel: LIMITS.atOnce.servers,
    logger,
    now,
    elapsed,
    retry: { ...config.retry, withinMs: config.limits.list },
    onChange: world.onChange,
    background: world.background,
  });
  const switchedOff = new Set(config.servers.map(({ name }) => name).filter((name) => !servers.has(name)));
  const where = config.origin === undefined ? '' : ` in ${config.origin}`;
  const offReason = config.enabled ? undefined : `Discovery is switched off (enabled: false${where}).`;
  return { config, id, rules, servers, switchedOff, offReason, catalog, discovery };
}

/** A person's own phrases; undefined for those that come with the package. */
async function readPhrases({ search }: ResolvedConfig): Promise<PhraseBook | false | undefined> {
  if (typeof search.phrases === 'boolean') return search.phrases ? undefined : false;
  noteRead(search.phrases);
  const text = await readFile(search.phrases, 'utf8').catch((error: Error) => {
    throw new ConfigurationError(`search.phrases: ${search.phrases} cannot be read: ${error.message}`);
  });
  const book = parsePhraseBook(text);
  if (book !== undefined) return book;
  throw new ConfigurationError(
    `search.phrases: ${search.phrases} is not a phrase book: {"version": 1, "tools": {"server:tool": ["a phrase"]}}`,
  );
}

/** Names what a ready index depends on besides the lists themselves. */
function stampOf(config: ResolvedConfig, phrases: PhraseBook | false | undefined): string {
  const own = config.servers.filter(({ tools, description }) => tools.length > 0 || description !== undefined);
  const what = [
    config.toolRules,
    config.rulePrecedence,
    config.floorRules,
    config.servers.map(({ name, origin }) => [name, origin.name, origin.client]),
    // The shipped phrases change with the package only.
    phrases === undefined ? VERSION : phrases && [...phrases],
    own.map(({ name, description, tools }) => [name, description, tools]),
  ];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 24);
}
