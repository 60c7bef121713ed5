/**
 * Runs an engine from start to end: loads the configuration on first use, replaces it on reload, saves and closes.
 * @module
 */

import { LookupCounts } from '../cache/lookup-counts.ts';
import { type HeardReads, hearReads } from '../config/heard-reads.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { ownerOf } from '../connections/connection-pool.ts';
import { fingerprint } from '../connections/fingerprint.ts';
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { toFailure } from '../core/result.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { Caller, EmbedderStatus, ServerDefinition } from '../core/types.ts';
import { modelMissing, warnOfMissingModel } from '../search/shipped.ts';
import { redactLog } from '../secrets/redact-log.ts';
import { ObservedOutputs } from '../service/observe/observed-outputs.ts';
import { openLearning, type UsageLearning } from '../usage/usage-learning.ts';
import { Downstreams } from './downstreams.ts';
import { EngineCluster } from './engine-cluster.ts';
import { EngineEmbeddings } from './engine-embeddings.ts';
import { EngineExecutions, type Running } from './engine-executions.ts';
import { EngineListeners } from './engine-listeners.ts';
import { buildState, type EngineState, type StateWorld } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';
import { GuestServers, type GuestState } from './guest-servers.ts';
import type { Registration } from './guest-tools.ts';
import { approvalsOpener } from './open-approvals.ts';
import { ProfileStates } from './profile-states.ts';
import { logRenamed, nameProviders, OWN, providerFingerprint } from './provider-sources.ts';
import { RequestStates } from './request-states.ts';
import { logRuleWarnings } from './rule-warnings.ts';
import { SharedChanges } from './shared-changes.ts';
import { type ListKey, SharedLists } from './shared-lists.ts';

export interface ReloadOptions {
  /** Skip a configuration that equals the current one, unless approvals have changed. */
  readonly ifChanged?: boolean | undefined;
  /** Called before a new configuration takes effect. False keeps the old one. */
  readonly confirm?: ((next: ResolvedConfig, before: ResolvedConfig | undefined) => Promise<boolean>) | undefined;
}

export class EngineRuntime {
  readonly downstreams: Downstreams;
  readonly embeddings: EngineEmbeddings;
  /** What tools without an output schema have returned. */
  readonly outputs = new ObservedOutputs();
  /** Servers that were discovered without being configured. */
  readonly guests: GuestServers;
  /** What callers with a profile, or with credentials of their own, see. */
  readonly profiles: ProfileStates;
  /** The sources that the current request sees. */
  readonly requests: RequestStates;
  /** Calls, from the first of each configuration on. */
  readonly executions: EngineExecutions;
  readonly listeners: EngineListeners;
  /** What this engine shares with other replicas. */
  readonly cluster: EngineCluster;
  readonly #world: EngineWorld;
  readonly #sharedLists: SharedLists;
  readonly #sharedChanges = new SharedChanges(() => this.cluster.current);
  readonly #openApprovals: StateWorld['approvals'];
  readonly #reported = new WeakSet<EngineState>();
  #current: Running | undefined;
  #reads: HeardReads = new Map();
  #problem: ErrorInfo | undefined;
  #ready: Promise<Running>;
  #reloading: Promise<unknown>;
  #saving: NodeJS.Timeout | undefined;
  #isFollowing = false;
  #usage: UsageLearning | undefined;
  #lookups: LookupCounts | undefined;
  #closed: Promise<void> | undefined;

  constructor(world: EngineWorld) {
    // A log message may quote a server, and a server may quote its secrets.
    const logger = redactLog(world.logger, (text) => this.downstreams.redact(text));
    this.#world = { ...world, logger };
    this.guests = new GuestServers({ ...this.#lists(), store: world.openStore, connects: !world.offline });
    const onChange: StateWorld['onChange'] = (server, sight) => this.listeners.toolsChanged(server, sight);
    this.profiles = new ProfileStates({ ...this.#lists(), connects: false, onChange });
    this.requests = new RequestStates({ ...this.#lists(), connects: false }, this.guests, this.profiles);
    this.downstreams = new Downstreams(
      this.#world,
      (server, owner) => this.#listChanged(server, owner),
      (server, caller) => this.stateOf(server, caller),
      { logins: () => this.cluster.current?.logins, tell: (change) => this.#sharedChanges.tell(change) },
    );
    const { downstreams, requests } = this;
    const cluster = new EngineCluster({
      env: world.env,
      logger,
      expand: (text, where) => downstreams.expandSecret(text, where),
      keepSecret: (value) => downstreams.keepSecret(value),
    });
    this.cluster = cluster;
    this.#sharedLists = new SharedLists({
      cluster: () => cluster.current,
      now: world.now,
      inUse: () => listsInUse(this.#current?.state, this.profiles),
      take: async (listing, owner) => {
        const state = this.#current?.state;
        if (!state) return;
        if (owner === undefined) return state.discovery.taken(listing);
        for (const one of this.profiles.ofUsers(state))
          if (one.sight?.owner === owner && one.servers.has(listing.server)) await one.discovery.taken(listing);
      },
    });
    this.executions = new EngineExecutions(
      { world: this.#world, downstreams, requests, cluster },
      () => this.#current?.state,
    );
    this.listeners = new EngineListeners(world.providers, () => {
      if (this.#current) void downstreams.providers.renewed(this.#current.state);
    });
    this.#openApprovals = approvalsOpener(this.#world, () => cluster.current?.approvals);
    this.embeddings = new EngineEmbeddings(this.#world, (text) => this.downstreams.redact(text));
    this.#ready = this.#load((config) => this.#build(config)).then((state) => this.#install(state));
    // Every request gets the error, so the rejection is handled.
    this.#reloading = this.#ready.catch((error) => this.#refused(error));
  }

  /** The current state, if one is loaded. */
  get current(): Running | undefined {
    return this.#current;
  }

  /** Why no configuration is in force, if loading failed. */
  get problem(): ErrorInfo | undefined {
    return this.#current ? undefined : this.#problem;
  }

  /** The files that the last load read or looked for, also if it failed. */
  get reads(): HeardReads {
    return this.#reads;
  }

  get world(): EngineWorld {
    return this.#world;
  }

  stateFolder(): Promise<string> {
    return this.#world.stateFolder();
  }

  /** The usage learner, if enabled. */
  get usage(): UsageLearning | undefined {
    return this.#usage;
  }

  /** The lookup counts, if the cache is enabled. */
  get lookups(): LookupCounts | undefined {
    return this.#lookups;
  }

  /** Finds the state of a server among those that a caller sees; the shared one for an unknown name. */
  stateOf(server: string, caller?: Caller): EngineState | undefined {
    const state = this.#current?.state;
    return state && this.requests.having(state, server, caller);
  }

  /** Follows the change of a server's list: of the shared one, or of that which one user sees. */
  #listChanged(server: string, owner: string | undefined): void {
    const state = this.#current?.state;
    if (state && owner !== undefined) this.profiles.changed(state, server, owner);
    else this.stateOf(server)?.discovery.changed(server);
  }

  /** The current state, once it is loaded. Rejects with the configuration error. */
  ready(): Promise<Running> {
    return this.#ready;
  }

  /** The embedder's progress; with `complete`, after it has read all tools. */
  async embedder(complete: boolean, signal?: AbortSignal): Promise<EmbedderStatus | undefined> {
    await this.#ready;
    return complete ? this.embeddings.complete(signal) : this.embeddings.status();
  }

  /**
   * Loads the configuration again and replaces the current one, one reload at a time. Resolves with false if it was not
   * replaced. On an error the current state stays; if there is none, every request gets the latest error.
   */
  reload(options: ReloadOptions = {}): Promise<boolean> {
    const reload = this.#reloading.then(() => this.#reload(options));
    this.#reloading = reload.catch((error) => this.#refused(error));
    return reload;
  }

  /** Takes a server in that is not configured. Returns its state. */
  admit(definition: ServerDefinition): Promise<GuestState> {
    return this.#inTurn((base) => this.guests.admit(base, definition));
  }

  /** Lets agents find and call tools of such a server. */
  async register(server: string, tools: readonly Registration[]): Promise<void> {
    await this.#inTurn((base) => this.guests.register(base, server, tools));
    this.listeners.toolsChanged(server, undefined);
  }

  /** Runs work on the current state that no reload may interrupt. */
  #inTurn<T>(work: (base: EngineState) => Promise<T>): Promise<T> {
    const turn = this.#reloading.then(async () => work((await this.#ready).state));
    this.#reloading = turn.catch(() => {});
    return turn;
  }

  /** Counts a lookup. Only gateways keep the counts: commands read lists first, so their counts say little. */
  count(hit: boolean): void {
    if (this.#world.background) this.#lookups?.count(hit);
  }

  /** Logs, once and after the first answer, which rules have no effect. */
  answered(state: EngineState): void {
    if (this.#reported.has(state) || state.rules.rules.length === 0) return;
    this.#reported.add(state);
    setImmediate(async () => {
      await state.discovery.idle();
      if (!this.#closed && this.#current?.state === state) await logRuleWarnings(state, this.#world.logger);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Loads the configuration, passes it to `use` and remembers the files that were read. */
  #load<T>(use: (config: ResolvedConfig) => Promise<T>): Promise<T> {
    const reads = new Map<string, string>();
    this.#reads = reads;
    return hearReads(reads, async () => use(await this.#world.loadConfig()));
  }

  #refused(error: unknown): void {
    if (this.#current || this.#closed) return;
    const failure = toFailure(error);
    if (!failure.success) this.#problem = { ...failure.error, code: 'CONFIGURATION_ERROR', retryable: false };
    this.#ready = Promise.reject(error);
    this.#ready.catch(() => {});
  }

  async #reload({ ifChanged = false, confirm }: ReloadOptions): Promise<boolean> {
    if (this.#closed) throw new DiscoveryError('SHUTTING_DOWN', 'The engine is closed and cannot be reloaded.');
    const before = this.#current;
    const next = await this.#load(async (config) => {
      const old = before?.state.config;
      const isSame = ifChanged && old && JSON.stringify(config) === JSON.stringify(old);
      if (isSame && !(await before.state.approvals?.hasChanged())) return undefined;
      if (confirm && !(await confirm(config, old))) return undefined;
      // The new state starts from what was learnt so far.
      await before?.state.catalog.save();
      return this.#build(config, before?.state);
    });
    if (next === undefined) return false;
    await this.guests.follow(next);
    await this.profiles.follow(next, before?.state);
    before?.state.discovery.stop(next.discovery);
    if (before) this.executions.replace(before, next);
    this.#ready = Promise.resolve(this.#install(next));
    this.listeners.reloaded();
    return true;
  }

  async #close(): Promise<void> {
    await this.#reloading;
    clearTimeout(this.#saving);
    const { state } = this.#current ?? {};
    // Calls first: a running call may need its server's list.
    const drain = state?.config.limits.drain ?? 0;
    const [closeAudit] = await Promise.all([
      this.executions.end(this.#current, drain),
      // The caller of a request that was passed on waits here, and its call runs elsewhere.
      this.cluster.current?.relay.settled(drain),
    ]);
    state?.discovery.stop();
    if (state) this.profiles.stop(state);
    await this.guests.close();
    await this.downstreams.close();
    await this.embeddings.close();
    await state?.catalog.save();
    await this.#usage?.flush();
    await this.#lookups?.flush();
    await closeAudit();
    await this.cluster.close();
  }

  /** How lists are read, for shared states and for those of a request. */
  #lists() {
    const { logger, now, elapsed, background } = this.#world;
    const list: StateWorld['list'] = (definition, caller, since) => {
      const ask = () => this.downstreams.list(definition, caller);
      if (isProvider(definition) || !this.cluster.current) return ask();
      const owner = ownerOf(definition, caller);
      const key = { server: definition.name, fingerprint: fingerprint(definition.connection), owner };
      return this.#sharedLists.read(key, since, async () => ask());
    };
    return { list, logger, now, elapsed, background };
  }

  async #build(config: ResolvedConfig, before?: EngineState): Promise<EngineState> {
    const { openStore, logger, isLogged, providers, offline } = this.#world;
    await this.cluster.configure(config);
    return buildState(config, {
      ...this.#lists(),
      store: openStore,
      approvals: this.#openApprovals,
      warnOfModel: () => (isLogged ? logger.warn({ code: 'STORAGE_ERROR' }, modelMissing()) : warnOfMissingModel()),
      describe: (source, listed) => this.downstreams.providers.describe(source, listed),
      providersBeside: (servers) =>
        nameProviders(providers, new Set(servers), OWN).map((definition) => {
          logRenamed(definition, logger);
          return { definition, fingerprint: providerFingerprint(definition.provider) };
        }),
      connects: !offline,
      onChange: (server) => {
        this.#saveSoon();
        this.embeddings.changed();
        this.listeners.toolsChanged(server, undefined);
      },
      before,
    });
  }

  /** Follows what other replicas do, from the first configuration with a cluster on. */
  #followReplicas(): void {
    const cluster = this.cluster.current;
    if (!cluster || this.#isFollowing) return;
    this.#isFollowing = true;
    this.#sharedLists.follow();
    this.#sharedChanges.follow(({ server, method, owner }) => this.downstreams.notified(server, method, {}, owner));
    cluster.approvals.onChange(async (isMissed) => {
      const hasChanged = await this.#current?.state.approvals?.hasChanged();
      // Lists that were read while approvals were away are looked at again by a new state.
      if (hasChanged || isMissed) await this.reload({ ifChanged: !isMissed }).catch(() => {});
    });
    cluster.logins.onChange(cluster.link, (name) => void this.downstreams.followLogins(name));
  }

  #install(state: EngineState): Running {
    this.#current = { state, opening: undefined, execution: undefined };
    this.downstreams.configure(state);
    if (this.#world.background) this.#followReplicas();
    this.embeddings.configure(state);
    this.#usage = openLearning(state.config, this.#world, this.#usage);
    const { enabled, dir } = state.config.cache;
    if (!enabled || this.#lookups?.folder !== dir) {
      void this.#lookups?.flush();
      this.#lookups = enabled ? new LookupCounts(dir, this.#world.now) : undefined;
    }
    for (const warning of state.config.warnings) this.#world.logger.warn({}, warning);
    if (state.catalog.dirty) this.#saveSoon();
    return this.#current;
  }

  #saveSoon(ms: number = LIMITS.pace.indexSave): void {
    if (this.#closed) return;
    clearTimeout(this.#saving);
    const timer = setTimeout(async () => {
      const catalog = this.#current?.state.catalog;
      await catalog?.save();
      // A change since then has set its own timer.
      if (catalog?.dirty && this.#saving === timer) this.#saveSoon(LIMITS.pace.indexSaveAgain);
    }, ms).unref();
    this.#saving = timer;
  }
}

/** The lists that replicas share: of all callers, and of single users. */
function listsInUse(base: EngineState | undefined, profiles: ProfileStates): (ListKey & { fetchedAt: number })[] {
  if (!base) return [];
  return [base, ...profiles.ofUsers(base)].flatMap(({ servers, catalog, sight, owned }) =>
    [...servers].flatMap(([server, { definition, fingerprint }]) =>
      isProvider(definition) || (sight?.owner === undefined && owned.has(server))
        ? []
        : { server, fingerprint, owner: sight?.owner, fetchedAt: catalog.fetchedAt(server) },
    ),
  );
}
