/**
 * Runs an engine from start to end: loads the configuration on first use, replaces it on reload, saves and closes.
 * @module
 */

import type { ApprovalSource, ApprovalStore } from '../approvals/approval-store.ts';
import type { Approvals } from '../approvals/approvals.ts';
import { elapsedNow } from '../async/clock.ts';
import { waitAtMost } from '../async/time-limit.ts';
import { LookupCounts } from '../cache/lookup-counts.ts';
import { type HeardReads, hearReads } from '../config/heard-reads.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { identityOf } from '../connections/pool-slot.ts';
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { toFailure } from '../core/result.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { EmbedderStatus, ServerDefinition } from '../core/types.ts';
import type { CallGates } from '../execution/call-gates.ts';
import { ResultPages } from '../execution/result-pages.ts';
import { modelMissing, warnOfMissingModel } from '../search/shipped.ts';
import { redactLog } from '../secrets/redact-log.ts';
import { ObservedOutputs } from '../service/observe/observed-outputs.ts';
import { openLearning, type UsageLearning } from '../usage/usage-learning.ts';
import { Downstreams } from './downstreams.ts';
import { EngineEmbeddings } from './engine-embeddings.ts';
import type { Execution } from './engine-execution.ts';
import { buildState, type EngineState, type KnownServer, type StateWorld } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';
import { GuestServers, type GuestState } from './guest-servers.ts';
import type { Registration } from './guest-tools.ts';
import { logRenamed, nameProviders, OWN, providerFingerprint } from './provider-sources.ts';
import { RequestStates } from './request-states.ts';
import { logRuleWarnings } from './rule-warnings.ts';

/** A configuration in force. The first call opens its execution. */
export interface Running {
  readonly state: EngineState;
  opening: Promise<Execution> | undefined;
  execution: Execution | undefined;
}

/** Options of a reload. */
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
  /** The sources that the current request sees. */
  readonly requests: RequestStates;
  readonly #world: EngineWorld;
  readonly #pages = new ResultPages();
  /** The call counters, once there was a call. */
  #gates: CallGates | undefined;
  readonly #reloadListeners = new Set<() => void>();
  readonly #toolListeners = new Set<(isReload: boolean, server?: string) => void>();
  readonly #reported = new WeakSet<EngineState>();
  /** Executions that a reload replaced while they had running calls. */
  readonly #replaced = new Set<Promise<Execution>>();
  /** Preparations that calls wait for before they are executed. */
  readonly #onTheWay = new Set<Promise<unknown>>();
  #current: Running | undefined;
  #reads: HeardReads = new Map();
  #problem: ErrorInfo | undefined;
  #ready: Promise<Running>;
  #reloading: Promise<unknown>;
  #saving: NodeJS.Timeout | undefined;
  #usage: UsageLearning | undefined;
  #lookups: LookupCounts | undefined;
  /** Opened with the first server that needs approval. Outlives a reload, because it may be in memory only. */
  #approvals: ApprovalStore | undefined;
  readonly #complaints = new Set<string>();
  #closed: Promise<void> | undefined;
  /** True once a closing engine carries out no more calls. */
  #ended = false;

  constructor(world: EngineWorld) {
    // A log message may quote a server, and a server may quote its secrets.
    const logger = redactLog(world.logger, (text) => this.downstreams.redact(text));
    this.#world = { ...world, logger };
    this.guests = new GuestServers({ ...this.#lists(), store: world.openStore, connects: !world.offline });
    this.requests = new RequestStates({ ...this.#lists(), connects: false }, this.guests);
    this.downstreams = new Downstreams(
      this.#world,
      (server) => this.stateOf(server)?.discovery.changed(server),
      (server) => this.stateOf(server),
    );
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

  /** The counters of calls, once there was one. */
  get gates(): CallGates | undefined {
    return this.#gates;
  }

  /** The usage learner, if enabled. */
  get usage(): UsageLearning | undefined {
    return this.#usage;
  }

  /** The lookup counts, if the cache is enabled. */
  get lookups(): LookupCounts | undefined {
    return this.#lookups;
  }

  /** Finds the state of a server among those that the current request sees; the shared one for an unknown name. */
  stateOf(server: string): EngineState | undefined {
    const state = this.#current?.state;
    return state && this.requests.having(state, server);
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

  /** The execute flow. Loaded by the first call, so that a program that only searches does not pay for it. */
  execution(running: Running): Execution | Promise<Execution> {
    running.opening ??= this.#openExecution(running);
    return running.execution ?? running.opening;
  }

  /** Registers a preparation that a call waits for before it is executed. Closing waits for it too. */
  onTheWay<T>(step: T | Promise<T>): Promise<T> {
    const settled = Promise.resolve(step);
    const gone = () => this.#onTheWay.delete(settled);
    this.#onTheWay.add(settled);
    settled.then(gone, gone);
    return settled;
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
    for (const listener of this.#toolListeners) listener(false, server);
  }

  /** Runs work on the current state that no reload may interrupt. */
  #inTurn<T>(work: (base: EngineState) => Promise<T>): Promise<T> {
    const turn = this.#reloading.then(async () => work((await this.#ready).state));
    this.#reloading = turn.catch(() => {});
    return turn;
  }

  /** Calls back when a list changes, also that of a provider that announces its changes. */
  onToolsChanged(listener: (isReload: boolean, server?: string) => void): () => void {
    this.#toolListeners.add(listener);
    const stops = this.#world.providers.map((provider) => {
      const { onToolsChanged } = provider as { onToolsChanged?: (listener: () => void) => unknown };
      const renew = () => void (this.#current && this.downstreams.providers.renewed(this.#current.state));
      const stop = typeof onToolsChanged === 'function' ? onToolsChanged.call(provider, renew) : undefined;
      return () => typeof stop === 'function' && stop();
    });
    const stopReload = this.onReload(() => listener(true));
    return () => {
      this.#toolListeners.delete(listener);
      for (const stop of [...stops, stopReload]) stop();
    };
  }

  onReload(listener: () => void): () => void {
    this.#reloadListeners.add(listener);
    return () => this.#reloadListeners.delete(listener);
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
    before?.state.discovery.stop(next.discovery);
    if (before) this.#forgetReplaced(before.state, next);
    this.#ready = Promise.resolve(this.#install(next));
    if (before?.opening) void this.#finish(before.opening);
    for (const listener of this.#reloadListeners) listener();
    return true;
  }

  /** Resets the counters of a name that now belongs to another server. */
  #forgetReplaced({ servers: before }: EngineState, { servers: now }: EngineState): void {
    for (const [name, known] of before) {
      const next = now.get(name);
      if (next === undefined || identityIn(next) !== identityIn(known)) this.#gates?.forget(name);
    }
  }

  /** Lets running calls finish under their old configuration. */
  async #finish(opening: Promise<Execution>): Promise<void> {
    this.#replaced.add(opening);
    const { proxy, closeAudit } = await opening;
    await proxy.finish();
    await closeAudit();
    this.#replaced.delete(opening);
  }

  async #close(): Promise<void> {
    await this.#reloading;
    await this.#arrivals();
    this.#ended = true;
    const { state, opening } = this.#current ?? {};
    const executions = await Promise.all(opening ? [...this.#replaced, opening] : this.#replaced);
    clearTimeout(this.#saving);
    // Calls first: a running call may need its server's list.
    await Promise.all(executions.map(({ proxy }) => proxy.close()));
    state?.discovery.stop();
    await this.guests.close();
    await this.downstreams.close();
    await this.embeddings.close();
    await state?.catalog.save();
    await this.#usage?.flush();
    await this.#lookups?.flush();
    await Promise.all(executions.map(({ closeAudit }) => closeAudit()));
    this.#pages.close();
  }

  /** Waits for calls that began before closing but are not executed yet. */
  async #arrivals(): Promise<void> {
    const until = elapsedNow() + (this.#current?.state.config.limits.drain ?? 0);
    for (;;) {
      // Let resolved waiters continue first.
      await new Promise((resolve) => setImmediate(resolve));
      const left = until - elapsedNow();
      if (this.#onTheWay.size === 0 || left <= 0) return;
      await waitAtMost(Promise.allSettled(this.#onTheWay), left);
    }
  }

  /** How lists are read, for shared states and for those of a request. */
  #lists() {
    const { logger, now, elapsed, background } = this.#world;
    const list: StateWorld['list'] = (definition, caller) => this.downstreams.list(definition, caller);
    return { list, logger, now, elapsed, background };
  }

  /** Opens the approvals of these servers. Nothing of this is loaded where every server is trusted. */
  async #openApprovals(sources: readonly ApprovalSource[], { home }: ResolvedConfig): Promise<Approvals> {
    const [{ ApprovalStore }, { Approvals }] = await Promise.all([
      import('../approvals/approval-store.ts'),
      import('../approvals/approvals.ts'),
    ]);
    this.#approvals ??= new ApprovalStore(this.#world.state === 'memory' ? undefined : home);
    const approvals = await Approvals.open(this.#approvals, sources);
    for (const problem of approvals.problems) {
      if (!this.#complaints.has(problem)) this.#world.logger.error({ code: 'STORAGE_ERROR' }, problem);
      this.#complaints.add(problem);
    }
    return approvals;
  }

  async #build(config: ResolvedConfig, before?: EngineState): Promise<EngineState> {
    const { openStore, logger, isLogged, providers, offline } = this.#world;
    return buildState(config, {
      ...this.#lists(),
      store: openStore,
      approvals: (sources, config) => this.#openApprovals(sources, config),
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
        for (const listener of this.#toolListeners) listener(false, server);
      },
      before,
    });
  }

  #install(state: EngineState): Running {
    this.#current = { state, opening: undefined, execution: undefined };
    this.downstreams.configure(state);
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

  async #openExecution(running: Running): Promise<Execution> {
    const { createExecution } = await import('./engine-execution.ts');
    const { state } = running;
    running.execution = createExecution({
      state,
      world: this.#world,
      downstreams: this.downstreams,
      pages: this.#pages,
      gates: this.#gates,
      requests: this.requests,
      // The rules now in force: a tool may have been disabled while its call waited for a list.
      decide: (server, definition, item) => {
        const { policy, catalog } = this.requests.having((this.#current ?? running).state, server);
        return item ? catalog.items.decide(server, item.kind, item.id) : policy.decide(server, definition);
      },
    });
    this.#gates = running.execution.proxy.gates;
    if (this.#ended) void running.execution.proxy.close();
    return running.execution;
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

/** Identifies what is behind a source's name. */
const identityIn = ({ definition, fingerprint }: KnownServer): string =>
  isProvider(definition) ? fingerprint : identityOf(definition);
