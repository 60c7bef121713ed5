/**
 * Opens the execute flow of each configuration with its first call, and lets running calls finish when a configuration is
 * replaced or the engine closes.
 * @module
 */
import { elapsedNow } from '../async/clock.ts';
import { waitAtMost } from '../async/time-limit.ts';
import { identityOf } from '../connections/pool-slot.ts';
import { isProvider } from '../core/tool-provider.ts';
import type { CallGates } from '../execution/call-gates.ts';
import { ResultPages } from '../execution/result-pages.ts';
import type { EngineCluster } from './engine-cluster.ts';
import type { Execution, ExecutionParts } from './engine-execution.ts';
import type { EngineState, KnownServer } from './engine-state.ts';

/** A configuration in force. The first call opens its execution. */
export interface Running {
  readonly state: EngineState;
  opening: Promise<Execution> | undefined;
  execution: Execution | undefined;
}

interface ExecutionsParts extends Pick<ExecutionParts, 'world' | 'downstreams' | 'requests'> {
  readonly cluster: EngineCluster;
}

export class EngineExecutions {
  readonly #parts: ExecutionsParts;
  /** The state in force. */
  readonly #stateNow: () => EngineState | undefined;
  readonly #pages: ResultPages;
  #gates: CallGates | undefined;
  /** Executions that a reload replaced while they had running calls. */
  readonly #replaced = new Set<Promise<Execution>>();
  /** Preparations that calls wait for before they are executed. */
  readonly #onTheWay = new Set<Promise<unknown>>();
  /** True once a closing engine carries out no more calls. */
  #ended = false;

  constructor(parts: ExecutionsParts, stateNow: () => EngineState | undefined) {
    this.#parts = parts;
    this.#pages = new ResultPages({ shared: () => parts.cluster.current?.pages });
    this.#stateNow = stateNow;
  }

  /** The counters of calls, once there was one. */
  get gates(): CallGates | undefined {
    return this.#gates;
  }

  /** The execute flow. Loaded by the first call, so that a program that only searches does not pay for it. */
  of(running: Running): Execution | Promise<Execution> {
    running.opening ??= this.#open(running);
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

  /** Resets the counters of names that now belong to other servers, and lets running calls finish as they began. */
  replace({ state, opening }: Running, { servers: now }: EngineState): void {
    for (const [name, known] of state.servers) {
      const next = now.get(name);
      if (next === undefined || identityIn(next) !== identityIn(known)) this.#gates?.forget(name);
    }
    if (opening) void this.#finish(opening);
  }

  /** Ends all calls, after a grace period of `drainMs`. Call the result to write what the audit log still lacks. */
  async end(current: Running | undefined, drainMs: number): Promise<() => Promise<void>> {
    await this.#arrivals(drainMs);
    this.#ended = true;
    const { opening } = current ?? {};
    const executions = await Promise.all(opening ? [...this.#replaced, opening] : this.#replaced);
    await Promise.all(executions.map(({ proxy }) => proxy.close()));
    return async () => {
      await Promise.all(executions.map(({ closeAudit }) => closeAudit()));
      this.#pages.close();
    };
  }

  async #open(running: Running): Promise<Execution> {
    const { createExecution } = await import('./engine-execution.ts');
    const { world, downstreams, requests, cluster } = this.#parts;
    running.execution = createExecution({
      world,
      downstreams,
      requests,
      state: running.state,
      pages: this.#pages,
      gates: this.#gates,
      rates: () => cluster.current?.rates,
      stateNow: () => this.#stateNow() ?? running.state,
    });
    this.#gates = running.execution.proxy.gates;
    if (this.#ended) void running.execution.proxy.close();
    return running.execution;
  }

  /** Lets running calls finish under their old configuration. */
  async #finish(opening: Promise<Execution>): Promise<void> {
    this.#replaced.add(opening);
    const { proxy, closeAudit } = await opening;
    await proxy.finish();
    await closeAudit();
    this.#replaced.delete(opening);
  }

  /** Waits for calls that began before closing but are not executed yet. */
  async #arrivals(drainMs: number): Promise<void> {
    const until = elapsedNow() + drainMs;
    for (;;) {
      // Let resolved waiters continue first.
      await new Promise((resolve) => setImmediate(resolve));
      const left = until - elapsedNow();
      if (this.#onTheWay.size === 0 || left <= 0) return;
      await waitAtMost(Promise.allSettled(this.#onTheWay), left);
    }
  }
}

/** Identifies what is behind a source's name. */
const identityIn = ({ definition, fingerprint }: KnownServer): string =>
  isProvider(definition) ? fingerprint : identityOf(definition);
