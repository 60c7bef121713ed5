/**
 * Keeps the listeners of an engine: for reloads, and for changed tool lists.
 * @module
 */
import type { ToolProvider } from '../core/tool-provider.ts';
import type { Sight } from './engine-state.ts';

/** Called after a reload, and when the list of a server has changed in the state that was narrowed for `sight`. */
type ToolsChanged = (server: string | undefined, sight: Sight | undefined) => void;

export class EngineListeners {
  readonly #providers: readonly ToolProvider[];
  readonly #renew: () => void;
  readonly #reload = new Set<() => void>();
  readonly #tools = new Set<ToolsChanged>();

  /** `renew` is called when one of `providers` announces a change. */
  constructor(providers: readonly ToolProvider[], renew: () => void) {
    this.#providers = providers;
    this.#renew = renew;
  }

  /** Calls back when a list changes, also that of a provider that announces its changes. */
  onToolsChanged(listener: ToolsChanged): () => void {
    this.#tools.add(listener);
    const stops = this.#providers.map((provider) => {
      const { onToolsChanged } = provider as { onToolsChanged?: (listener: () => void) => unknown };
      const stop =
        typeof onToolsChanged === 'function' ? onToolsChanged.call(provider, () => this.#renew()) : undefined;
      return () => typeof stop === 'function' && stop();
    });
    const stopReload = this.onReload(() => listener(undefined, undefined));
    return () => {
      this.#tools.delete(listener);
      for (const stop of [...stops, stopReload]) stop();
    };
  }

  /** Calls back after every reload. */
  onReload(listener: () => void): () => void {
    this.#reload.add(listener);
    return () => this.#reload.delete(listener);
  }

  toolsChanged(server: string, sight: Sight | undefined): void {
    for (const listener of this.#tools) listener(server, sight);
  }

  reloaded(): void {
    for (const listener of this.#reload) listener();
  }
}
