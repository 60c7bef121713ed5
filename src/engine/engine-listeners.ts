/**
 * Keeps the listeners of an engine: for reloads, and for changed tool lists.
 * @module
 */
import type { ToolProvider } from '../core/tool-provider.ts';

/** Called when tool lists change, by a reload or otherwise. */
export type ToolsChanged = (isReload: boolean, server?: string) => void;

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
    const stopReload = this.onReload(() => listener(true));
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

  toolsChanged(server: string): void {
    for (const listener of this.#tools) listener(false, server);
  }

  reloaded(): void {
    for (const listener of this.#reload) listener();
  }
}
