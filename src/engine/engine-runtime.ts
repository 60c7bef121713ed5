/**
 * The life of an engine: loads the configuration on first use, swaps in a new one on reload, writes and closes at the
 * end. Configuration in, the state in force out.
 * @module
 */

import { elapsedNow } from '../async/clock.ts';
import { waitAtMost } from '../async/time-limit.ts';
import { LookupCounts } from '../cache/lookup-counts.ts';
import { type HeardReads, hearReads } from '../config/heard-reads.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { identityOf } from '../connections/pool-slot.ts';
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { toFailure } from '../core/result.ts';
import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import type { EmbedderStatus } from '../core/types.ts';
import type { CallGates } from '../execution/call-gates.ts';
import { ResultPages } from '../execution/result-pages.ts';
import { modelMissing, warnOfMissingModel } from '../search/shipped.ts';
import { redactLog } from '../secrets/redact-log.ts';
import { openLearning, type UsageLearning } from '../usage/usage-learning.ts';
import { Downstreams } from './downstreams.ts';
import { EngineEmbeddings } from './engine-embeddings.ts';
import type { Execution } from './engine-execution.ts';
import { buildState, type EngineState, type KnownServer, requestState, type StateWorld } from './engine-state.ts';
import type { EngineWorld } from './engine-world.ts';
import { nameProviders, providerFingerprint } from './provider-sources.ts';
import { RequestStates } from './request-states.ts';
import { logRuleWarnings } from './rule-warnings.ts';

/** How long a search or a call waits for a provider's changed list. */
const RENEW_MS = 2000;
const SAVE_AFTER_MS = 1000;
/** A disk that took nothing is tried again so much later. */
const SAVE_AGAIN_MS = 600_000;

/** A configuration in force and what carries out calls under it, once somebody has called. */
export interface Running {
  readonly state: EngineState;
  opening: Promise<Execution> | undefined;
  execution: Execution | undefined;
}

/** What a reload is asked. */
export interface ReloadOptions {
  /** A configuration that says what the old one said is not swapped in. */
  readonly ifChanged?: boolean | undefined;
  /** The last word before a new configuration is swapped in: false keeps the old one. */
  readonly confirm?: ((next: ResolvedConfig, before: ResolvedConfig | undefined) => Promise<boolean>) | undefined;
}

export class EngineRuntime {
  readonly downstreams: Downstreams;
  readonly embeddings: EngineEmbeddings;
  /** What the request being served sees. */
  readonly requests: RequestStates;
  readonly #world: EngineWorld;
  readonly #pages = new ResultPages();
  /** Lookups of this process. */
  readonly counts = { hits: 0, misses: 0 };
  /** What counts calls, once there was one. */
  #gates: CallGates | undefined;
  readonly #reloadListeners = new Set<() => void>();
  readonly #toolListeners = new Set<(isReload: boolean, server?: string) => void>();
  readonly #reported = new WeakSet<EngineState>();
  /** Executions that a reload replaced while they had calls under way. */
  readonly #replaced = new Set<Promise<Execution>>();
  /** What calls wait for that have not reached their execution. */
  readonly #onTheWay = new Set<Promise<unknown>>();
  #current: Running | undefined;
  #reads: HeardReads = new Map();
  #problem: ErrorInfo | undefined;
  #ready: Promise<Running>;
  #reloading: Promise<unknown>;
  #saving: NodeJS.Timeout | undefined;
  #usage: UsageLearning | undefined;
  #lookups: LookupCounts | undefined;
  #closed: Promise<void> | undefined;
  /** Closing has come so far that no more calls are carried out. */
  #ended = false;

  constructor(world: EngineWorld) {
    // Whatever is logged may quote a server, and a server may quote what it was given.
    const logger = redactLog(world.logger, (text) => this.downstreams.redact(text));
    this.#world = { ...world, logger };
    this.requests = new RequestStates((base, known) =>
      requestState(base, known, { ...this.#lists(), connects: false }),
    );
    this.downstreams = new Downstreams(
      this.#world,
      (server) => this.#current?.state.discovery.changed(server),
      (server) => this.sourceOf(server),
    );
    this.embeddings = new EngineEmbeddings(this.#world, (text) => this.downstreams.redact(text));
    this.#ready = this.#load((config) => this.#build(config)).then((state) => this.#install(state));
    // Whoever asks for something gets the error.
    this.#reloading = this.#ready.catch((error) => this.#refused(error));
  }

  /** What is in force, if anything was loaded yet. */
  get current(): Running | undefined {
    return this.#current;
  }

  /** Why no configuration is in force, once loading one has failed. */
  get problem(): ErrorInfo | undefined {
    return this.#current ? undefined : this.#problem;
  }

  /** The files that the last load read or looked for, whether or not it came to anything. */
  get reads(): HeardReads {
    return this.#reads;
  }

  /** The state folder. */
  stateFolder(): Promise<string> {
    return this.#world.stateFolder();
  }

  /** What learns from use, where the configuration in force wants that. */
  get usage(): UsageLearning | undefined {
    return this.#usage;
  }

  /** Counts of lookups, where the configuration in force keeps anything. */
  get lookups(): LookupCounts | undefined {
    return this.#lookups;
  }

  /** A source by its name, among those that the request being served sees. */
  sourceOf(server: string): SourceDefinition | undefined {
    const state = this.#current?.state;
    return state && this.requests.having(state, server).servers.get(server)?.definition;
  }

  /** Reads the lists of providers that have changed, before anybody looks for a tool of theirs. */
  async renewed(state: EngineState): Promise<void> {
    const { providers } = this.downstreams;
    const changed = state.providers.filter((source) => providers.hasChanged(source)).map(({ name }) => name);
    if (changed.length > 0)
      await waitAtMost(Promise.all(changed.map((name) => state.discovery.refresh(name))), RENEW_MS);
  }

  /** What is in force, once it is loaded. Rejects with what is wrong with the configuration. */
  ready(): Promise<Running> {
    return this.#ready;
  }

  /** How far the embedder has come, once it has read all tools if that is wanted. */
  async embedder(complete: boolean, signal?: AbortSignal): Promise<EmbedderStatus | undefined> {
    await this.#ready;
    return complete ? this.embeddings.complete(signal) : this.embeddings.status();
  }

  /** What carries out calls. The first call loads it: who only searches does not pay for it. */
  execution(running: Running): Execution | Promise<Execution> {
    running.opening ??= this.#openExecution(running);
    return running.execution ?? running.opening;
  }

  /** Waits for a step of a call on its way to what carries it out; closing does so, too. */
  onTheWay<T>(step: T | Promise<T>): Promise<T> {
    const settled = Promise.resolve(step);
    const gone = () => this.#onTheWay.delete(settled);
    this.#onTheWay.add(settled);
    settled.then(gone, gone);
    return settled;
  }

  /**
   * Loads the configuration anew and swaps it in, one reload at a time; false when it was not swapped in. On any error
   * the old state goes on; where there is none, everybody gets the latest error.
   */
  reload(options: ReloadOptions = {}): Promise<boolean> {
    const reload = this.#reloading.then(() => this.#reload(options));
    this.#reloading = reload.catch((error) => this.#refused(error));
    return reload;
  }

  /** Calls back when a list has changed, also that of a provider that says so by itself. */
  onToolsChanged(listener: (isReload: boolean, server?: string) => void): () => void {
    this.#toolListeners.add(listener);
    const stops = this.#world.providers.map((provider) => {
      const { onToolsChanged } = provider as { onToolsChanged?: (listener: () => void) => unknown };
      const renew = () => void (this.#current && this.renewed(this.#current.state));
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

  /** Counts a lookup. What is kept is about gateways: commands read lists first. */
  count(hit: boolean): void {
    this.counts[hit ? 'hits' : 'misses']++;
    if (this.#world.background) this.#lookups?.count(hit);
  }

  /** Says, once and behind the first answer, which rules do not do what they seem to. */
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

  /** Loads the configuration and does something with it, and remembers which files that took. */
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
    if (this.#closed) throw new DiscoveryError('SHUTTING_DOWN', 'The engine is closed and takes no configuration.');
    const before = this.#current;
    const next = await this.#load(async (config) => {
      const old = before?.state.config;
      if (ifChanged && old && JSON.stringify(config) === JSON.stringify(old)) return undefined;
      if (confirm && !(await confirm(config, old))) return undefined;
      // What was learnt so far is what the new state starts from.
      await before?.state.catalog.save();
      return this.#build(config, before?.state);
    });
    if (next === undefined) return false;
    before?.state.discovery.stop(next.discovery);
    if (before) this.#forgetReplaced(before.state, next);
    this.#ready = Promise.resolve(this.#install(next));
    if (before?.opening) void this.#finish(before.opening);
    for (const listener of this.#reloadListeners) listener();
    return true;
  }

  /** What was counted under a name says nothing about another server that has it now. */
  #forgetReplaced({ servers: before }: EngineState, { servers: now }: EngineState): void {
    for (const [name, known] of before) {
      const next = now.get(name);
      if (next === undefined || identityIn(next) !== identityIn(known)) this.#gates?.forget(name);
    }
  }

  /** Calls under way end where they began. */
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
    // First the calls: one under way may need its server's list.
    await Promise.all(executions.map(({ proxy }) => proxy.close()));
    state?.discovery.stop();
    await this.downstreams.close();
    await this.embeddings.close();
    await state?.catalog.save();
    await this.#usage?.flush();
    await this.#lookups?.flush();
    await Promise.all(executions.map(({ closeAudit }) => closeAudit()));
    this.#pages.close();
  }

  /** A call that began before counts as under way, though what it needs may still have to be loaded. */
  async #arrivals(): Promise<void> {
    const until = elapsedNow() + (this.#current?.state.config.limits.drain ?? 0);
    for (;;) {
      // Whoever got what he waited for now takes his next step.
      await new Promise((resolve) => setImmediate(resolve));
      const left = until - elapsedNow();
      if (this.#onTheWay.size === 0 || left <= 0) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, left);
      });
      await Promise.race([late, Promise.allSettled(this.#onTheWay)]);
      clearTimeout(timer);
    }
  }

  /** How lists are read, whoever keeps them. */
  #lists() {
    const { logger, now, elapsed, background } = this.#world;
    const list: StateWorld['list'] = (definition, caller) => this.downstreams.list(definition, caller);
    return { list, logger, now, elapsed, background };
  }

  async #build(config: ResolvedConfig, before?: EngineState): Promise<EngineState> {
    const { openStore, logger, isLogged, providers, offline } = this.#world;
    return buildState(config, {
      ...this.#lists(),
      store: openStore,
      warnOfModel: () => (isLogged ? logger.warn({ code: 'STORAGE_ERROR' }, modelMissing()) : warnOfMissingModel()),
      describe: (source, listed) => this.downstreams.providers.describe(source, listed),
      providersBeside: (servers) =>
        nameProviders(providers, servers, 'own', logger).map((definition) => ({
          definition,
          fingerprint: providerFingerprint(definition.provider),
        })),
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
      // A call that waited for its server's list may find that its tool has been disabled meanwhile.
      rules: () => (this.#current ?? running).state.rules,
    });
    this.#gates = running.execution.proxy.gates;
    if (this.#ended) void running.execution.proxy.close();
    return running.execution;
  }

  #saveSoon(ms: number = SAVE_AFTER_MS): void {
    if (this.#closed) return;
    clearTimeout(this.#saving);
    const timer = setTimeout(async () => {
      const catalog = this.#current?.state.catalog;
      await catalog?.save();
      // What has changed meanwhile has set a timer of its own.
      if (catalog?.dirty && this.#saving === timer) this.#saveSoon(SAVE_AGAIN_MS);
    }, ms).unref();
    this.#saving = timer;
  }
}

/** Names what a source is, beside its name. */
const identityIn = ({ definition, fingerprint }: KnownServer): string =>
  isProvider(definition) ? fingerprint : identityOf(definition);
