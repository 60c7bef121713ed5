/**
 * Holds the engine of a registry: a given one, or one that is made when it is first needed. The program's own tools get an
 * engine of their own where the entries of servers cannot be used.
 * @module
 */

import { DiscoveryError } from '../../core/errors.ts';
import type { EngineCore } from '../../engine/engine-core.ts';
import { coreOf, type EngineHandle, isEngine } from '../../engine/engine-handle.ts';
import type { ServerEntry } from './servers-from-env.ts';

export interface RegistryEngineOptions {
  readonly servers: EngineHandle | readonly ServerEntry[];
  readonly now: () => number;
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
}

export class RegistryEngine {
  readonly given: EngineCore | undefined;
  readonly entries: readonly ServerEntry[];
  readonly #options: RegistryEngineOptions;
  #core: EngineCore | undefined;
  #opening: Promise<EngineCore> | undefined;
  #spare: Promise<EngineCore> | undefined;
  #closed = false;

  constructor(options: RegistryEngineOptions) {
    const { servers } = options;
    this.#options = options;
    this.given = isEngine(servers) ? coreOf(servers) : undefined;
    this.entries = isEngine(servers) ? [] : servers;
  }

  /** The engine, once it was needed. */
  get core(): EngineCore | undefined {
    return this.#core;
  }

  /** Opens the engine if it is needed; otherwise none is loaded. */
  async open(isNeeded: boolean): Promise<EngineCore | undefined> {
    if (this.#closed) throw new DiscoveryError('SHUTTING_DOWN', 'The registry is closed.', { outcome: 'not_sent' });
    if (!this.given && !isNeeded) return undefined;
    this.#opening ??= this.given ? Promise.resolve(this.given) : this.#make(this.entries);
    this.#core = await this.#opening;
    return this.#core;
  }

  /** Opens the engine for the program's own tools, which mistakes in the entries of servers must not stop. */
  async openForOwn(): Promise<EngineCore | undefined> {
    const core = await this.open(true);
    if (this.given || (await core?.getConfig().catch(() => undefined))) return core;
    this.#spare ??= this.#make([]);
    return this.#spare;
  }

  /** Closes the engines that were made here. */
  async close(): Promise<void> {
    this.#closed = true;
    const made = [this.given ? undefined : this.#opening, this.#spare];
    await Promise.all(made.map(async (opening) => (await opening)?.close()));
  }

  async #make(servers: readonly ServerEntry[]): Promise<EngineCore> {
    const { EngineCore } = await import('../../engine/engine-core.ts');
    const { env, now } = this.#options;
    return new EngineCore(
      // The registry searches nothing.
      { servers: [...servers], search: { meaning: false, phrases: false, learn: false } },
      { ...(env && { env }), elapsed: now, background: false, wholeResults: true },
      'memory',
    );
  }
}
